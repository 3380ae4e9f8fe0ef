#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// What is wrong with where a volume comes from; `field` is the path of the volume, which has a
/// source.
void check_volume_source(const json::object& volume, const std::string& field,
                         FieldErrors& field_errors);

}  // namespace muster::apiserver
