#pragma once

#include <string>
#include <string_view>

namespace muster::manifest {

/// The text as a manifest has to write it in `command`, `args` or the value of a variable, where
/// Kubernetes replaces $(NAME), so that a program gets it as it is. Pure.
std::string literal_text(std::string_view text);

}  // namespace muster::manifest
