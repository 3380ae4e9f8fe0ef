#pragma once

#include <optional>
#include <string_view>

#include "cel/expression.h"

namespace muster::cel {

/// What a call is short for, or nothing if it is no macro. Takes the target (null: none) and the
/// arguments if it is one.
std::optional<std::expected<ExpressionPtr, Issue>> expand_macro(
    std::size_t at, std::string_view function, ExpressionPtr& target,
    std::vector<ExpressionPtr>& arguments);

}  // namespace muster::cel
