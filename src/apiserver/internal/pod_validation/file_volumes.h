#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

// Volumes whose files are made of objects: what is wrong with such a source, whose path `field` is.

/// Of a Secret or a ConfigMap.
void check_key_files(const json::object& source, const std::string& field,
                     FieldErrors& field_errors);
void check_downward_volume(const json::object& source, const std::string& field,
                           FieldErrors& field_errors);
void check_projected_volume(const json::object& source, const std::string& field,
                            FieldErrors& field_errors);

}  // namespace muster::apiserver
