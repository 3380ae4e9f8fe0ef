#pragma once

#include <string_view>

#include "kube/values/json.h"

namespace muster::apiserver {

/// An object of a built-in kind in which nothing is set, as Go writes it, without metadata and
/// status: some fields are there nevertheless, and their creator does not own them. Null for a kind
/// whose objects are empty then. Lives as long as the program.
const json::value* unset_object(std::string_view api_version, std::string_view kind);

}  // namespace muster::apiserver
