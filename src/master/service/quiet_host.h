#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "master/service/service.h"

namespace muster::master {

/// The job of a service under test: it has no world and no record, and what it is told has no effect.
/// A test overrides what its service asks.
class QuietHost : public ServiceHost {
  public:
    explicit QuietHost(std::uint64_t epoch = 1) : epoch_(epoch) {}

    std::uint64_t epoch() const override { return epoch_; }
    std::optional<int> rank_of(const std::string&, const Generation&) const override {
        return std::nullopt;
    }
    std::string section(const std::string&) const override { return {}; }
    Result<void> set_section(const std::string&, std::string) override { return {}; }
    void exclude(const std::string&, FailureKind, const std::vector<UnfitNode>&, Instant,
                 WallTime) override {}
    void wants_nodes(int) override {}
    void expects_successors(std::set<Slot>) override {}
    void wants_servers(int) override {}
    std::optional<int> wanted_servers() const override { return std::nullopt; }
    std::string waits_for() const override { return {}; }
    void say(Notice) override {}

  private:
    std::uint64_t epoch_;
};

}  // namespace muster::master
