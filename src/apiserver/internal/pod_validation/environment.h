#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// What is wrong with the variables of a container; `field` is the container's path.
void check_environment(const json::object& container, const std::string& field,
                       FieldErrors& field_errors);
/// And with a reference to a field of the pod, of which `fields` may be shown there, and to a
/// resource of a container.
void check_field_reference(const json::object& reference,
                           const std::vector<std::string_view>& fields, const std::string& field,
                           FieldErrors& field_errors);
void check_resource_reference(const json::object& reference, bool names_container,
                              const std::string& field, FieldErrors& field_errors);
void check_data_key(std::string_view key, const std::string& field, FieldErrors& field_errors);

}  // namespace muster::apiserver
