#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "kube/values/json.h"
#include "launch/plan.h"

namespace muster::sim {

/// What muster-run in the containers of a pod is told by its command line and its environment.
/// nullopt: it is the command of no container. An error: it would refuse what it is told.
Result<std::optional<launch::LaunchPlan>> launch_of_pod(const json::value& pod);

}  // namespace muster::sim
