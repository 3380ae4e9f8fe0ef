#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "apiserver/objects/field_errors.h"
#include "kube/schema/schema.h"

namespace muster::apiserver {

/// The fields of a definition's version that field selectors may name, without the leading dot.
std::vector<std::string> selectable_fields_of(const json::object& version);

/// Adds a cause for each of them that is no field of the schema, or not one of a simple value.
/// `field`: where the version is in the definition.
void check_selectable_fields(const json::object& version, const kube::Schema& schema,
                             const std::string& field, FieldErrors& field_errors);

}  // namespace muster::apiserver
