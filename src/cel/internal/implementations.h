#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "cel/expression.h"

namespace muster::cel {

/// A row of a library's table.
struct NamedFunction {
    std::string_view name;
    Implementation call;
};

// Each library has a file of its own. A function that several of them have ("indexOf", "ip") looks
// at its first argument.
std::span<const NamedFunction> operator_functions();
std::span<const NamedFunction> conversion_functions();
std::span<const NamedFunction> time_functions();
std::span<const NamedFunction> string_functions();
std::span<const NamedFunction> list_functions();
std::span<const NamedFunction> optional_functions();
std::span<const NamedFunction> regex_functions();
std::span<const NamedFunction> quantity_functions();
std::span<const NamedFunction> address_functions();
std::span<const NamedFunction> url_functions();
std::span<const NamedFunction> version_functions();
std::span<const NamedFunction> format_functions();
std::span<const NamedFunction> authorization_functions();

/// Null for operators that the evaluator carries out itself: `&&`, `||`, `?:`, selections.
Implementation find_implementation(std::string_view name);

std::unexpected<Failure> cost_limit_exceeded();
/// Texts that a function makes fail so beyond this: costs count what goes in.
constexpr std::size_t kLongestResult = std::size_t{16} << 20;

}  // namespace muster::cel
