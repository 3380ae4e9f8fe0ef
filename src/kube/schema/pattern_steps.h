#pragma once

#include <cstddef>

#include "kube/schema/schema.h"

namespace muster::kube {

/// How many steps a comparison with the patterns of a schema takes for each character of an object
/// at the worst, of some 40 ns each. As many as there may be where it has many patterns, each of
/// which is compiled.
std::size_t most_pattern_steps(const Schema& schema);

}  // namespace muster::kube
