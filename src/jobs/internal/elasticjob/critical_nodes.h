#pragma once

#include <optional>
#include <string>

#include "jobs/kind.h"

namespace muster::jobs {

/// What is wrong with a replica type's `criticalNodes`, if anything: it takes "all", "none", or the
/// ranks with their restarts, "0:3,2:1" (DLRover v0.6, dlrover/python/scheduler/job.py).
std::optional<Cause> critical_nodes_problem(const Job& job, const std::string& type,
                                            const std::string& written);

}  // namespace muster::jobs
