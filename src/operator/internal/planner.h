#pragma once

#include "base/clock.h"
#include "operator/internal/dependents.h"
#include "operator/internal/plan.h"
#include "operator/internal/records.h"
#include "operator/internal/table.h"

namespace muster::operators {

/// Creations and deletions of one pass: enough to keep the API busy, and little enough that a job
/// of many replicas sees what happens to its first pods before it has made the last.
inline constexpr std::size_t kWritesPerPass = 500;

/// What a job needs now. `status` is the newest that is known, which may be newer than the job's
/// own; `dependents` are configured with it and the job's facts, which it has. A pure function;
/// equal arguments give an equal plan. Costs what there is to do, not what there is.
Plan plan(const JobRecord& job, const jobs::JobStatus& status, const Dependents& dependents,
          const Orphans& orphans, WallTime now);

}  // namespace muster::operators
