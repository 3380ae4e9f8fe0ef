#pragma once

#include <functional>
#include <optional>
#include <string>

#include "master/service/service.h"
#include "master/wishes/wishes.h"

namespace muster::master {

/// Hears of its job what its wishes follow from, keeps the machines that are left out in the job's
/// record, and gives each new wish to whoever writes it. All decisions are in Wishes.
class WishService final : public Service {
  public:
    /// Takes a wish, which replaces the one before; does not wait.
    using Put = std::function<void(Wish)>;

    WishService(const ServiceContext& context, Put put);

    void joined(const Hello& hello) override;
    void excluded(const Hello& hello, const std::optional<WallTime>& until) override;
    void lost(const std::string& incarnation) override;
    void world_changed(const World* world, const std::string& why) override;
    bool advance(Instant now, WallTime wall) override;
    Instant wake_at() const override { return wishes_.wake_at(); }

  private:
    ServiceHost& job_;
    std::function<void()> wake_;
    Put put_;
    Wishes wishes_;
    bool changed_ = true;  ///< since the wish was looked at
    std::optional<Wish> told_;
};

}  // namespace muster::master
