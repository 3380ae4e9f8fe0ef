#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/authorization/action.h"

namespace muster::apiserver {

/// What a request for a path below /apis/GROUP/VERSION asks for, told by the path alone: nothing is
/// known of the kinds of an extension server. /apis/GROUP/VERSION itself is a path. Pure.
Action action_on_extension(std::string_view path, kube::Method method,
                           const std::vector<std::pair<std::string, std::string>>& query);

}  // namespace muster::apiserver
