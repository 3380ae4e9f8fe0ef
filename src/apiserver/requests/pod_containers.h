#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/requests/status_error.h"

namespace muster::apiserver {

/// The container of `pod` (the stored object) that a request means which names `wanted`. Without a
/// name the only one is meant, or the one that an annotation names.
StatusResult<std::string> choose_container(std::string wanted, const json::object& pod);

/// Where the pod is bound to, or "".
std::string_view node_of(const json::object& pod);

}  // namespace muster::apiserver
