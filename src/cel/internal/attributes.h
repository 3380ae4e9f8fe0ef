#pragma once

#include "cel/expression.h"

namespace muster::cel {

// What cel-go calls an attribute is a root and what is looked up in it, one after the other, in one
// step. Each look-up has its cost, and the root has, unless it is a choice between two attributes.
// Upstream: cel-go v0.23.2, interpreter/planner.go.

bool is_attribute(const Expression& expression);
bool begins_with_conditional(const Expression& attribute);

}  // namespace muster::cel
