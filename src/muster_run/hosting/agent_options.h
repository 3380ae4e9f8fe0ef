#pragma once

#include <string>

#include "agent/agent.h"
#include "launch/plan.h"

namespace muster::run {

/// What a plan means for the agent of a node, but for its name and what it works with there.
agent::AgentOptions agent_options(const launch::LaunchPlan& plan, std::string token);

}  // namespace muster::run
