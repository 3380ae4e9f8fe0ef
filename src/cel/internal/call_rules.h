#pragma once

#include <span>
#include <string>

#include "cel/expression.h"
#include "cel/value.h"

namespace muster::cel {

// How cel-go carries out a call all of whose arguments need a value. Upstream: cel-go v0.23.2,
// interpreter/planner.go, common/decls.

/// Whether arguments behind one that has failed are left out: where there are more than two, and
/// where only the values tell which signature of a function is meant.
bool stops_at_failure(const Expression& at, const Call& call);

/// Whether the values are of the types for which the one signature was chosen. They may be others
/// where those types were inferred from a part of what is dyn.
bool fit(const Expression& at, const Call& call, std::span<const Value> arguments);

/// That no signature fits; with the types, but for operators, as cel-go mostly says it.
std::string no_overload_for(const Call& call, std::span<const Value> arguments);

}  // namespace muster::cel
