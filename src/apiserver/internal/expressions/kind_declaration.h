#pragma once

#include "apiserver/resources/resource_def.h"
#include "cel/declaration.h"

namespace muster::apiserver {

/// The types of the objects of a kind, as the schema that a server publishes has them: what
/// policies are checked against. Sizes are not known. Quantities of built-in kinds have no type
/// there, so expressions do not see them. Upstream: k8s.io/apiserver v0.33, pkg/cel/openapi.
cel::DeclarationPtr declaration_of_kind(const ResourceDef& def);

}  // namespace muster::apiserver
