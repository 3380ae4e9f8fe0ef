#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// What is wrong with a pod's security context, its namespaces of the host and its operating
/// system; `in` is the path of the pod's spec.
void check_pod_security(const json::object& spec, const std::string& in, FieldErrors& field_errors);
/// And with a container's; `spec` is the pod's, `field` the container's path.
void check_container_security(const json::object& container, const json::object& spec,
                              const std::string& field, FieldErrors& field_errors);

}  // namespace muster::apiserver
