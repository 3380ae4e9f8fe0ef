#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "kube/values/json.h"

namespace muster::kube {

/// What is wrong with the type and the names of a whole object within another
/// (x-kubernetes-embedded-resource), which stands at `path`. Fields of a wrong type are left to the
/// schema.
std::vector<Cause> embedded_problems(const json::object& object, const std::string& path);

}  // namespace muster::kube
