#pragma once

#include <vector>

#include "base/error.h"
#include "base/time/clock.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/planning/plan.h"

namespace muster::operators {

/// The events when a job begins about fields of its manifest that have no effect, are deprecated or
/// doubtful. A template's restartPolicy keeps upstream's reason.
std::vector<JobEvent> warning_events(const std::vector<Cause>& warnings);

/// The plan for a job that can't be run: Failed, with the reason. A job that already started
/// continues as it is, since an edit must not kill it; an event says that the edit is not in
/// effect.
Plan plan_invalid(const JobRecord& record, const jobs::JobStatus& status, const Error& why,
                  WallTime now);

}  // namespace muster::operators
