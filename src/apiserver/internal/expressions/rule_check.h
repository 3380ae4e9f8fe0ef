#pragma once

#include "apiserver/internal/expressions/schema_rules.h"

namespace muster::apiserver {

/// SchemaRules::check() from the root of an object.
void check_rules(const SchemaRules::Node& root, const json::value& object,
                 const json::value* before, FieldErrors& field_errors);

}  // namespace muster::apiserver
