#pragma once

#include <string_view>

namespace muster::cli {

/// The help of `kill`, `pause` and `partition`; empty for any other verb.
std::string_view fault_injection_help_text(std::string_view verb);

}  // namespace muster::cli
