#pragma once

#include <string>

#include "cel/value.h"

namespace muster::cel {

/// The value as an expression would write it, for tests: `"a"`, `1u`, `[1, 2]`,
/// `optional.none()`. Keys of maps are sorted.
std::string literal_text(const Value& value);

}  // namespace muster::cel
