#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// What is wrong with what a pod says about its node: tolerations, affinity, spread, gates. `in` is
/// the path of the pod's spec.
void check_placement(const json::object& spec, const std::string& in, FieldErrors& field_errors);

/// Tolerations alone, to which an update may add some.
void check_tolerations(const json::object& spec, const std::string& in, FieldErrors& field_errors);

}  // namespace muster::apiserver
