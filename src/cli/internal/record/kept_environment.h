#pragma once

#include <string>
#include <vector>

namespace muster::cli {

/// "NAME=VALUE" a line, sorted, with the values left out that look secret: those of variables with a
/// name such as API_KEY, and URLs with a password. A value of several lines is written as JSON. Pure.
std::string kept_environment(std::vector<std::string> environment);

/// Whether the name of a variable says that its value is secret. Pure.
bool names_a_secret(std::string_view name);

}  // namespace muster::cli
