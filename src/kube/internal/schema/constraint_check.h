#pragma once

#include <vector>

#include "base/error.h"
#include "kube/internal/schema/schema_walk.h"
#include "kube/schema/schema.h"
#include "kube/schema/schema_constraint.h"

namespace muster::kube {

/// Compares values with constraints, in the words of kube-openapi. It counts what it does, over all
/// values of one object, and ends with a cause when that is too much: each of many elements may have
/// to be compared with each of many alternatives.
class ConstraintCheck {
  public:
    /// Causes against a value that is not null. `before` is its stored state, or null: parts that
    /// have not changed may be wrong.
    std::vector<Cause> check(const SchemaConstraint& constraint, const Schema& structure,
                             const json::value& value, const json::value* before, FieldPath& path);

  private:
    struct Found;
    struct Walk;

    /// Some tens of milliseconds, but for patterns.
    static constexpr std::size_t kMostCompared = 100'000;
    std::size_t left_ = kMostCompared;
};

}  // namespace muster::kube
