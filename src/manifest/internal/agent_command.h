#pragma once

#include <boost/json/array.hpp>
#include <optional>

#include "kube/values/json.h"
#include "manifest/adjust.h"

namespace muster::manifest {

/// The command of a container with an agent before it. It takes the place of torchrun (`torchrun`,
/// `python -m torch.distributed.run`), whose flags it knows; any other program it starts as it is,
/// once. With spares it starts a script of Python by the same interpreter itself, as only that can
/// begin in one. Nothing: the container has no command, or a malformed one, which the check tells.
std::optional<json::array> agent_command(const json::object& container, const AgentWords& agent);

}  // namespace muster::manifest
