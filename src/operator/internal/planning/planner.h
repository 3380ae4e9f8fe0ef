#pragma once

#include "base/time/clock.h"
#include "operator/internal/cache/dependents.h"
#include "operator/internal/cache/integration_state.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/cache/table.h"
#include "operator/internal/planning/plan.h"
#include "operator/internal/scaling/scale_order.h"

namespace muster::operators {

/// Limit of creations and deletions in one plan, so that it comes to an end; a reconciliation ends
/// earlier if there is something to report.
inline constexpr std::size_t kWritesPerPlan = 4000;

/// What a job needs now. `integrations` is what is known of the objects that integrate it with
/// other programs. `status` is the newest known status, which may be newer than the job's own;
/// `dependents` are configured with it and with the job's facts, which the job must have. `order` is
/// what a ScalePlan changes, and null if none is to be executed; while it can't be, as when the job is
/// suspended or a pod is just being made, it waits for a later plan. A pure
/// function: equal arguments give an equal plan. Costs as much as there is to do, not as much as
/// there is.
Plan plan(const JobRecord& job, const jobs::JobStatus& status, const Dependents& dependents,
          const Orphans& orphans, WallTime now, const IntegrationState& integrations = {},
          const ScaleOrder* order = nullptr);

}  // namespace muster::operators
