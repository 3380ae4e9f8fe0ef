#pragma once

#include <boost/json/array.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kube/json.h"

namespace muster::cli {

/// The command of a container with an agent before it: `agent` are the words that start one. It
/// takes the place of torchrun (`torchrun`, `python -m torch.distributed.run`), whose flags it
/// knows; any other program it starts as it is, once. Nothing: the
/// container has no command, or a malformed one, which the check tells.
std::optional<json::array> agent_command(const json::object& container,
                                         const std::vector<std::string>& agent);

}  // namespace muster::cli
