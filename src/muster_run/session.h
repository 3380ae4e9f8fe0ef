#pragma once

#include "launch/plan.h"

namespace muster::run {

/// Does what the plan says, on this node, until nothing of the job is left here: owns the job's
/// directory, the workers, the store, the agent and, where that belongs here, the master. Returns
/// the exit code of muster_run(). Blocks; the loop is its own.
int run_session(launch::LaunchPlan plan, launch::Variables variables);

}  // namespace muster::run
