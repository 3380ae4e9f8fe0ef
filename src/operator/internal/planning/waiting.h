#pragma once

#include <span>

#include "operator/internal/cache/dependents.h"
#include "operator/internal/pending/pending.h"
#include "operator/internal/planning/draft.h"
#include "operator/internal/planning/job_outcome.h"

namespace muster::operators {

// The pods of a job that don't run yet, as decide_pending() sees them, and what is told of them.

/// Nothing to do for jobs of kinds without a JobKind::pending_policy, and while all pods run: then it
/// costs a few comparisons, else a look at each pod that does not.
PendingDecision look_at_waiting(std::span<const ReplicaTypeState> states, const JobRecord& job,
                                const jobs::JobStatus& status, const Dependents& dependents,
                                WallTime now);

/// The condition Incomplete and its event; removes it when nothing is to be told.
void tell_waiting(Draft& draft, const PendingDecision& decision);

}  // namespace muster::operators
