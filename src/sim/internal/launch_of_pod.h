#pragma once

#include <optional>
#include <string>

#include "kube/values/json.h"
#include "launch/plan.h"

namespace muster::sim {

/// What muster-run in the containers of a pod is told by its command line and its environment.
/// Nothing: no container has it for its command, or it would refuse what it is told.
std::optional<launch::LaunchPlan> launch_of_pod(const json::value& pod);

}  // namespace muster::sim
