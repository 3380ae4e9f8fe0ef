#pragma once

#include <sys/resource.h>

#include "launch/plan.h"

namespace muster::run {

/// Does what the plan says, on this node, until nothing of the job is left here: owns the job's
/// directory, the workers, the store, the agent and, where that belongs here, the master. Returns
/// the exit code of muster_run(). Blocks; the loop is its own. `core_bytes`: the soft limit of the
/// workers' core dumps.
int run_session(launch::LaunchPlan plan, launch::Variables variables, rlim_t core_bytes);

}  // namespace muster::run
