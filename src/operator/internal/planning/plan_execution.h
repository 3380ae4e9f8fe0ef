#pragma once

#include <string_view>
#include <vector>

#include "operator/internal/cache/dependents.h"
#include "operator/internal/planning/draft.h"
#include "operator/internal/planning/job_outcome.h"
#include "operator/internal/scaling/scale_order.h"

namespace muster::operators {

// A ScalePlan is carried out with the write of the job's status that names it.

/// Whether that may be now: the creation of no pod is under way of a type that the plan changes.
bool may_execute(const ScaleOrder& order, const std::vector<ReplicaTypeState>& states,
                 const Dependents& dependents);

/// The ids of a type that leave first when fewer are wanted. `plan` may be null, and outlives it.
std::string_view spares_of(const jobs::ExecutedPlan* plan, std::string_view type);

/// Events: that it is carried out, and the nodes that are left out from now on.
void tell_executed(const ScaleOrder& order, const jobs::JobStatus& before, Draft& draft);

}  // namespace muster::operators
