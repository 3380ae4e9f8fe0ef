#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::pod_tools {

/// "NAME=VALUE", as execve() takes it.
using Environment = std::vector<std::string>;

/// The value of a variable; of two with the same name the first, as libraries read it.
std::optional<std::string_view> variable(const Environment& environment, std::string_view name);

/// Sets a variable, in its place if it is there.
void set_variable(Environment& environment, std::string_view name, std::string_view value);
void remove_variable(Environment& environment, std::string_view name);

}  // namespace muster::pod_tools
