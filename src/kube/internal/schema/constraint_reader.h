#pragma once

#include <boost/json/object.hpp>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kube/internal/schema/schema_walk.h"
#include "kube/schema/schema.h"
#include "kube/schema/schema_constraint.h"

namespace muster::kube {

// The constraints of a schema, as apiextensions takes and refuses them:
// k8s.io/apiextensions-apiserver v0.33, pkg/apiserver/schema, validation.go and complete.go.

/// Whether a field of a schema is a part of its constraint: Schema has no field that says it.
bool is_constraint_field(const json::object& openapi, std::string_view key);

/// The constraint of a schema. Null: there is none, or it was refused. `path` is where the schema
/// stands, `structure` what it says of fields and lists. As upstream, only a constraint of the root
/// has to speak of what the structure knows.
SchemaConstraint::Ptr read_constraint(const json::object& openapi, const Schema& structure,
                                      bool root, FieldPath& path, std::vector<Cause>& causes);

}  // namespace muster::kube
