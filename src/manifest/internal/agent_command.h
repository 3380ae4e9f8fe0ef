#pragma once

#include <boost/json/array.hpp>
#include <optional>

#include "base/result.h"
#include "kube/values/json.h"
#include "manifest/adjust.h"

namespace muster::manifest {

/// The command of a container with an agent before it. The agent takes the place of torchrun
/// (`torchrun`, `python -m torch.distributed.run`), whose flags it knows, also where a shell or a
/// program such as `env` calls it; it starts any other program as it is, once. With spares it
/// starts a Python script itself with the same interpreter, as only that can run in a spare.
/// Nothing if the container has no command or a malformed one, which the check reports. kInvalid:
/// torchrun is called where no agent can take its place. Pure, but for agent.text_of.
Result<std::optional<json::array>> agent_command(const json::object& container,
                                                 const AgentWords& agent);

}  // namespace muster::manifest
