#pragma once

#include <optional>

#include "base/result.h"
#include "kube/values/json.h"
#include "master_process/arguments.h"

namespace muster::sim {

/// What `muster master` in the containers of a pod is told by its command line. nullopt: it is the
/// command of no container. An error: it would refuse what it is told.
Result<std::optional<master_process::Arguments>> master_of_pod(const json::value& pod);

}  // namespace muster::sim
