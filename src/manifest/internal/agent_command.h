#pragma once

#include <boost/json/array.hpp>
#include <optional>

#include "kube/values/json.h"
#include "manifest/adjust.h"

namespace muster::manifest {

/// The command of a container with an agent before it. The agent takes the place of torchrun
/// (`torchrun`, `python -m torch.distributed.run`), whose flags it knows; it starts any other
/// program as it is, once. With spares it starts a Python script itself with the same interpreter,
/// as only that can run in a spare. Nothing if the container has no command or a malformed one,
/// which the check reports.
std::optional<json::array> agent_command(const json::object& container, const AgentWords& agent);

}  // namespace muster::manifest
