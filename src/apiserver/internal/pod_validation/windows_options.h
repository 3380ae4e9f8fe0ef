#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// What is wrong with the `windowsOptions` of a security context, whose path `field` is.
void check_windows_options(const json::object& context, const std::string& field,
                           FieldErrors& field_errors);
/// Containers that are processes of a Windows host: either all of a pod are, or none is. `in` is the
/// path of the pod's spec.
void check_host_processes(const json::object& spec, const std::string& in,
                          FieldErrors& field_errors);

}  // namespace muster::apiserver
