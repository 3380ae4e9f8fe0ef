#pragma once

#include <string>
#include <unordered_map>

#include "operator/internal/planning/planner.h"

namespace muster::operators {

/// The differences between dependents and orphans that were maintained event by event and the same
/// recomputed from everything that the caches show, or between the plans for them. Empty: none.
/// `order`: as in plan().
std::string inconsistencies(const JobRecord& job, const jobs::JobStatus& status,
                            const Dependents& dependents, const Orphans& orphans, WallTime now,
                            const std::unordered_map<std::string, PodPtr>& pods,
                            const std::unordered_map<std::string, ServicePtr>& services,
                            const IntegrationState& integrations, const ScaleOrder* order);

}  // namespace muster::operators
