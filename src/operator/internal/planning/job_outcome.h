#pragma once

#include <optional>
#include <span>
#include <string>

#include "operator/internal/cache/dependents.h"
#include "operator/internal/planning/draft.h"

namespace muster::operators {

/// What the replicas of one type show.
struct ReplicaTypeState {
    const TypeFacts& facts;
    const std::string& name;
    const ReplicaTotals& totals;
    jobs::ReplicaCounts counts;
    IndexSet done;  ///< replicas that have succeeded, whether their pods are still there or not
    std::int32_t restarts = 0;
    bool waits = false;  ///< for the type that it starts after: no pod of it is made yet
    bool newly = false;  ///< the removal of a failed pod begins now
};

/// How the job stands after a look at its replicas.
enum class JobOutcome {
    kContinues,
    kFinished,       ///< succeeded or failed, as the draft says
    kNewGeneration,  ///< all of its pods restart together
};

/// `before`: the status as it was. The draft gets its replica statuses and conditions, and its
/// completion time when the job is over. `requeue_at`: when the outcome changes by itself.
JobOutcome evaluate(std::span<const ReplicaTypeState> states, const jobs::JobStatus& before,
                    Draft& draft, std::optional<WallTime>& requeue_at);

}  // namespace muster::operators
