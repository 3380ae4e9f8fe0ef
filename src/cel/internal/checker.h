#pragma once

#include <span>
#include <string>
#include <vector>

#include "cel/expression.h"
#include "cel/program.h"

namespace muster::cel {

/// Fills in types, signatures and implementations; all issues against it, none: it can be
/// evaluated. Upstream: cel-go v0.23.2, checker/checker.go, with the validators of literals that
/// Kubernetes adds.
std::vector<Issue> check(Expression& root, std::span<const Variable> variables);

}  // namespace muster::cel
