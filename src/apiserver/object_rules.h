#pragma once

#include <boost/json/value.hpp>
#include <vector>

#include "base/error.h"
#include "kube/json.h"
#include "kube/resource_type.h"

namespace muster::apiserver {

/// Why the API would refuse to create this object of a built-in kind, as far as the object alone
/// tells: nothing that depends on what else is stored. None for kinds that are not built in. Pure.
std::vector<Cause> causes_against(const kube::ResourceType& type, const json::value& object);

}  // namespace muster::apiserver
