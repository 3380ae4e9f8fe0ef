#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "kube/schema/schema.h"
#include "kube/values/json.h"

namespace muster::kube {

// OpenAPI's names of types, which every message about a value of a wrong type uses.

/// "object", "integer", ...; "" for the types that OpenAPI expresses without `type` (kAny,
/// kIntOrString).
std::string_view type_name(Schema::Type type);
/// The reverse; nothing for a name that `type` can't have.
std::optional<Schema::Type> type_named(std::string_view name);
/// Every name that `type` can have, as messages list them: `"array", "boolean", ...`.
std::string known_type_names();
/// The type of a value: "integer" for 3, "number" for 3.0, "null".
std::string_view type_name(const json::value& value);

}  // namespace muster::kube
