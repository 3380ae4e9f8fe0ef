#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/requests/status_error.h"

namespace muster::apiserver {

/// The container of `pod` (the stored object) for a request that names `wanted`. Without a name it
/// is the only one, or the one that an annotation names.
StatusResult<std::string> choose_container(std::string wanted, const json::object& pod);

/// The node to which the pod is bound, or "".
std::string_view node_of(const json::object& pod);

}  // namespace muster::apiserver
