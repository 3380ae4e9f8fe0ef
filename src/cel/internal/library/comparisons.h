#pragma once

#include <optional>

#include "cel/internal/library/arguments.h"

namespace muster::cel {

// isLessThan(), isGreaterThan() and compareTo() are functions of quantities and of versions. Less
// than zero, zero or more; nullopt for values of other types.
std::optional<int> compare_quantities(const Value& a, const Value& b);
std::optional<int> compare_versions(const Value& a, const Value& b);
std::optional<int> compare_library_values(Arguments arguments);

}  // namespace muster::cel
