#pragma once

#include <boost/json/object.hpp>
#include <set>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// Everything that is wrong with a pod's volumes; their names. `in` is the path of the pod's spec.
std::set<std::string, std::less<>> check_volumes(const json::object& spec, const std::string& in,
                                                 FieldErrors& field_errors);

}  // namespace muster::apiserver
