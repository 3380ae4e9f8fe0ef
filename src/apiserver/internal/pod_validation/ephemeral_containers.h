#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// What of an ephemeral container only others may have; `field` is its path.
void check_ephemeral_only(const json::object& container, const std::string& field,
                          FieldErrors& field_errors);

/// What is wrong with a change of spec.ephemeralContainers: what was added stays as it is.
void check_ephemeral_additions(const json::object& next, const json::object& stored,
                               FieldErrors& field_errors);

}  // namespace muster::apiserver
