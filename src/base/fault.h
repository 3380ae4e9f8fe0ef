#pragma once

#include <cstdint>
#include <source_location>
#include <unordered_map>

#include "base/rng.h"

namespace muster {

/// Switches fault points on for the current run: each site is chosen once per run with probability
/// `site_probability`, and a chosen site fires with probability `fire_probability` each time it is
/// passed. Off in production, where a fault point costs one load of a pointer.
class FaultPlan {
  public:
    FaultPlan(std::uint64_t seed, double site_probability, double fire_probability);
    ~FaultPlan();

    FaultPlan(const FaultPlan&) = delete;
    FaultPlan& operator=(const FaultPlan&) = delete;

    /// The plan in force on this thread, or null.
    static FaultPlan* current();

    bool fires(const char* file, std::uint32_t line);

  private:
    std::uint64_t seed_;
    double site_probability_;
    double fire_probability_;
    Rng rng_;
    std::unordered_map<std::uint64_t, bool> chosen_;  ///< by place: sites are passed very often
    FaultPlan* previous_;
};

/// True when the simulation wants this site to misbehave: a rare delay, an early return, a tiny
/// buffer. `if (fault_point()) co_return Error(...)`.
inline bool fault_point(std::source_location site = std::source_location::current()) {
    FaultPlan* plan = FaultPlan::current();
    return plan != nullptr && plan->fires(site.file_name(), site.line());
}

}  // namespace muster
