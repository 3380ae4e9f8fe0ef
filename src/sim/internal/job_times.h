#pragma once

#include <map>
#include <optional>

#include "base/time/clock.h"
#include "store/store.h"

namespace muster::sim {

/// When each job was made and when it ended, to the instant: its own times have whole seconds.
class JobTimes {
  public:
    /// A job that is made again under a name is another one.
    void change(Instant now, const store::StoreChange& change);
    /// From its making until it was first told to have succeeded or failed; nullopt: it has not, or
    /// there is no such job.
    std::optional<Duration> of(const store::StoreKey& job) const;

  private:
    struct Times {
        Instant made{};
        std::optional<Instant> ended = {};
    };
    std::map<store::StoreKey, Times> times_;
};

}  // namespace muster::sim
