#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/internal/cache/dependents.h"
#include "operator/internal/pending/pending.h"
#include "operator/internal/planning/draft.h"
#include "operator/internal/planning/limits.h"

namespace muster::operators {

/// The state of the replicas of one type.
struct ReplicaTypeState {
    const TypeFacts& facts;
    const std::string& name;
    const ReplicaTotals& totals;
    jobs::ReplicaCounts counts;
    IndexSet done;  ///< succeeded replicas, whether their pods still exist or not
    std::int32_t restarts = 0;
    const Members* members = nullptr;         ///< null if its ids don't rise
    std::vector<std::int32_t> replaced = {};  ///< of the members, by others from now on
    OwnResourcesByRank own_resources = {};    ///< that these ranks have from now on
    std::string told_of_memory = {};          ///< who ran out of it; for people
    bool waits = false;        ///< for the type that it starts after: none of its pods is made yet
    bool newly = false;        ///< the removal of a failed pod begins now
    Pause longest_pause = {};  ///< of its replicas that wait for their next pod
    std::int32_t pauses = 0;   ///< the index of that replica
};

/// What a look at a job's replicas says about it.
enum class JobOutcome {
    kContinues,
    kFinished,       ///< succeeded or failed; the draft says which
    kNewGeneration,  ///< all of its pods restart together
};

/// `before`: the previous status. The draft gets the replica statuses and conditions, and a
/// completion time if the job is over. `pending`: what becomes of replicas that don't run yet.
/// `requeue_at`: when the outcome changes without any event.
JobOutcome evaluate(std::span<const ReplicaTypeState> states, const jobs::JobStatus& before,
                    const PendingDecision& pending, Draft& draft,
                    std::optional<WallTime>& requeue_at);

}  // namespace muster::operators
