#pragma once

#include <optional>
#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

// The annotation annotations::kElastic: what `muster run --elastic` does to a manifest, done to the
// pods of a job where the platform has the agent to give (agent_in_pods.h).

/// Whether agents are put before this job's commands.
bool gets_agents(const Job& job);

/// The agent before the command of the kind's container of a pod: in the place of a launcher, and
/// before another program of Python. Before a command that no agent can take the place of, it does
/// nothing: check_agents() has refused such a job.
void put_agent(const Job& job, kube::Pod& pod);

/// The replicas whose commands no agent can take the place of.
std::vector<Cause> check_agents(const Job& job);

/// The annotation, if it has no effect here or its value no meaning, and the replicas that it does
/// not reach.
std::vector<Cause> ineffective_elastic(const Job& job);

}  // namespace muster::jobs
