#pragma once

#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

/// `resourceLimits` is a real cap: what all pods request together may not be above it, with what single
/// replicas have of their own by the job's status. (Upstream's master gives it to its optimizer alone.)
void check_resource_limits(const Job& job, std::vector<Cause>& causes);

/// Of a job with defaults.
MemoryPolicy memory_policy(const Job& job);

}  // namespace muster::jobs
