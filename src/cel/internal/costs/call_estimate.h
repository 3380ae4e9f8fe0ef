#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "cel/declaration.h"
#include "cel/internal/costs/cost_range.h"
#include "cel/type.h"

namespace muster::cel {

/// What is known of an argument before it is evaluated.
struct EstimatedArgument {
    Type type;
    Range size = Range::unknown();
    Range cost;
    /// Of a list: the declaration of its elements; null if it is not known.
    const Declaration* element = nullptr;
    /// The number, of a literal that is an int.
    std::optional<std::int64_t> literal;
};
struct EstimatedCall {
    Range cost;                 ///< without that of its arguments
    std::optional<Range> size;  ///< of its result
};

/// Of a function of the libraries; nothing for functions of the standard. The target is the first
/// argument, if there is one.
std::optional<EstimatedCall> estimate_library_call(std::string_view function,
                                                   std::string_view overload, bool member,
                                                   std::span<const EstimatedArgument> arguments);
/// Of a function of the standard, but `&&`, `||` and `?:`.
EstimatedCall estimate_standard_call(std::string_view overload, bool member,
                                     std::span<const EstimatedArgument> arguments);

}  // namespace muster::cel
