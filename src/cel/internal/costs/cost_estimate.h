#pragma once

#include <cstdint>
#include <span>

#include "cel/expression.h"
#include "cel/program.h"

namespace muster::cel {

/// The most that a checked expression may cost, from the sizes that the declarations of its
/// variables allow. Upstream: cel-go v0.23.2, checker/cost.go, and k8s.io/apiserver v0.33,
/// pkg/cel/library/cost.go. Definitions are refused by this figure, so it must be theirs.
std::uint64_t estimate_most_cost(const Expression& root, std::span<const Variable> variables);

}  // namespace muster::cel
