#pragma once

#include <string>
#include <vector>

#include "kube/values/json.h"
#include "launch/plan.h"

namespace muster::sim {

/// The variables of a container that are written in its pod. Those that its node fills in are empty.
launch::Variables environment_of(const json::value& container);

/// Its command and its arguments, as its node starts them: references to variables are replaced.
std::vector<std::string> command_of(const json::value& container);

/// The containers of a pod.
std::vector<const json::value*> containers_of(const json::value& pod);

}  // namespace muster::sim
