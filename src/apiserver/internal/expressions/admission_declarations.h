#pragma once

#include "cel/declaration.h"
#include "cel/type.h"

namespace muster::apiserver {

/// The type of `request`.
const cel::DeclarationPtr& request_declaration();
/// The type of `namespaceObject`.
const cel::DeclarationPtr& namespace_declaration();
/// What is declared of a variable whose expression has this type.
cel::DeclarationPtr declaration_of_type(const cel::Type& type);

}  // namespace muster::apiserver
