#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "base/time/clock.h"
#include "jobs/scale_plan.h"

namespace muster::operators {

/// What the operator keeps of a ScalePlan. Immutable and shared.
struct PlanRecord {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string resource_version;
    std::int64_t generation = 0;
    WallTime created;
    bool deleting = false;
    bool manual = false;   ///< of a user, who goes before the job's master
    std::string job_name;  ///< "" if it names none
    jobs::ScalePlanStatus status;
    /// Null if it has ended, or `problem` says what is wrong with it.
    std::shared_ptr<const jobs::ScalePlanSpec> spec;
    std::string problem;

    /// Whether the phase is the last one of this generation. A phase that upstream's operator has
    /// written counts for every generation.
    bool ended(std::int64_t of_generation) const;
    bool ended() const { return ended(generation); }
    /// The master's own plan, which it writes again for each wish.
    bool is_of_master() const { return !manual && name == jobs::own_plan_name(job_name); }
    /// A master's that has no wish (jobs::ScalePlanSpec::asks_nothing).
    bool asks_nothing() const { return !manual && spec != nullptr && spec->asks_nothing(); }
};
using PlanPtr = std::shared_ptr<const PlanRecord>;

PlanPtr project_plan(const json::value& object);

namespace plan_phases {
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kScaling = "Scaling";
inline constexpr std::string_view kSucceeded = "Succeeded";
inline constexpr std::string_view kFailed = "Failed";
}  // namespace plan_phases

}  // namespace muster::operators
