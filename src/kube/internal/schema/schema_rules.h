#pragma once

#include <boost/json/array.hpp>
#include <vector>

#include "base/error.h"
#include "kube/internal/schema/schema_walk.h"
#include "kube/schema/schema.h"

namespace muster::kube {

// The rules of a schema, as they are read and written. What they say is not looked at.

/// `path` is that of the schema.
std::vector<Schema::Rule> read_rules(const json::value& openapi, FieldPath& path,
                                     std::vector<Cause>& causes);
/// Once the fields of the schema are known: which of them its rules blame.
void settle_field_paths(Schema& schema, FieldPath& path, std::vector<Cause>& causes);
json::array rules_as_openapi(const std::vector<Schema::Rule>& rules);
/// Whether a part of it has rules; those of the parts are known.
bool are_rules_below(const Schema& schema);

}  // namespace muster::kube
