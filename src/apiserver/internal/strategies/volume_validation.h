#pragma once

#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// Everything that is wrong with a pod's volumes; their names. `in` is the path of the pod's spec.
std::set<std::string, std::less<>> check_volumes(const json::object& spec, const std::string& in,
                                                 FieldErrors& field_errors);

/// A path that is to stay in its volume: relative, and without "..".
void check_descending_path(std::string_view path, const std::string& field,
                           FieldErrors& field_errors);

}  // namespace muster::apiserver
