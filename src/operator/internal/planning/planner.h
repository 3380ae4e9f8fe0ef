#pragma once

#include "base/time/clock.h"
#include "operator/internal/cache/dependents.h"
#include "operator/internal/cache/integration_state.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/cache/table.h"
#include "operator/internal/planning/plan.h"

namespace muster::operators {

/// Creations and deletions of one plan, so that it has an end; a reconciliation ends earlier when
/// there is something to tell.
inline constexpr std::size_t kWritesPerPlan = 4000;

/// What a job needs now. `integrations`: what is known of the objects that it may have for them.
/// `status` is the newest that is known, which may be newer than the job's
/// own; `dependents` are configured with it and the job's facts, which it has. A pure function;
/// equal arguments give an equal plan. Costs what there is to do, not what there is.
Plan plan(const JobRecord& job, const jobs::JobStatus& status, const Dependents& dependents,
          const Orphans& orphans, WallTime now, const IntegrationState& integrations = {});

}  // namespace muster::operators
