#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "operator/internal/cache/dependents.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/scaling/plan_record.h"
#include "operator/internal/scaling/scale_order.h"

namespace muster::operators {

/// How long a plan waits for its job: one file may have both, in any order.
inline constexpr std::chrono::seconds kJobGrace{60};
/// How many plans of a job stay after their end.
inline constexpr std::size_t kEndedPlans = 10;

/// Plans that were refused for a reason which is not in the caches, by uid.
struct Refusal {
    std::int64_t generation = 0;
    std::string why = {};
};
using Refusals = std::map<std::string, Refusal>;

/// What there is to say of a plan.
struct PlanNews {
    PlanPtr plan;
    std::int64_t generation = 0;  ///< the one that it is about
    std::string_view phase;       ///< one of plan_phases
    std::string message;
};

/// What the plans of one job lead to.
struct PlanQueue {
    std::vector<PlanNews> news;       ///< not in the plans' statuses yet
    std::vector<PlanPtr> surplus;     ///< ended, and too many
    PlanPtr next;                     ///< to be executed now; may be null
    std::optional<ScaleOrder> order;  ///< what that changes
    /// When this changes without an event.
    std::optional<WallTime> look_again;
};

/// The state of a job that decisions about its plans read.
struct PlannedJob {
    const JobRecord& job;
    const jobs::JobStatus& status;
    const Dependents& dependents;  ///< configured with that status
    bool one_machine = false;      ///< where no node is left out: there is no other
};

/// Plans are executed one after the other, in order of creation, those of users before those of
/// masters. The one that the job's status names is under way until its own status says that it has
/// ended, and no other is executed before: so each is executed once, whoever dies when. A plan of a
/// master that asks for nothing is left alone, and holds up no other; its next generation is as a new
/// plan. `job`: nothing if there is none. A pure function.
PlanQueue queue_of(std::vector<PlanPtr> plans, const std::optional<PlannedJob>& job,
                   const Refusals& refusals, WallTime now);

/// What the plan that such a job executed last waits for; "" if it is done. For people, and the same
/// as long as it waits for the same. The job has facts.
std::string open_ends(const PlannedJob& job);

}  // namespace muster::operators
