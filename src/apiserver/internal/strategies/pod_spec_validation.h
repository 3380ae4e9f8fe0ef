#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// Everything that is wrong with the spec of a pod or of a template; `in` is its path ("spec",
/// "spec.template.spec"). Its defaults are set.
void check_pod_spec(const json::object& spec, const std::string& in, FieldErrors& field_errors);

/// The same for its ephemeral containers, alone.
void check_ephemeral_containers(const json::object& spec, FieldErrors& field_errors);

/// The same for what an update of a pod may change, alone.
void check_changeable_parts(const json::object& spec, const std::string& in,
                            FieldErrors& field_errors);

}  // namespace muster::apiserver
