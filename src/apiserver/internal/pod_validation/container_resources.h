#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// What is wrong with the resources of a container, whose path `field` is.
void check_resources(const json::object& container, const std::string& field,
                     FieldErrors& field_errors);
/// And with what a pod takes besides its containers; `in` is the path of the pod's spec.
void check_overhead(const json::object& spec, const std::string& in, FieldErrors& field_errors);
/// And with what a change of resources means for a container. `restart` is the pod's policy.
void check_resize_policy(const json::object& container, std::string_view restart,
                         const std::string& field, FieldErrors& field_errors);

}  // namespace muster::apiserver
