#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "kube/schema/schema.h"
#include "kube/values/json.h"

namespace muster::kube {

// How OpenAPI, and with it every message about a value of a wrong type, calls the types.

/// "object", "integer", ...; "" for the types that OpenAPI says otherwise than by `type` (kAny,
/// kIntOrString).
std::string_view type_name(Schema::Type type);
/// The reverse. Nothing for a name that `type` can't have.
std::optional<Schema::Type> type_named(std::string_view name);
/// Every name that `type` can have, as messages list them: `"array", "boolean", ...`.
std::string known_type_names();
/// The type that a value shows: "integer" for 3, "number" for 3.0, "null".
std::string_view type_name(const json::value& value);

}  // namespace muster::kube
