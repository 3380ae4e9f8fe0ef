#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cel/expression.h"

namespace muster::cel {

/// Why a format can't be filled in from these elements, whose types are known: what cel-go's
/// validator refuses before any evaluation (v0.23.2, ext/formatting.go). Nothing where it can be, or
/// where only an evaluation shows it.
std::optional<std::string> format_problem(std::string_view format, const MakeList& elements);

}  // namespace muster::cel
