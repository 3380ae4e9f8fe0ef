#pragma once

#include <string_view>

namespace muster::cli {

/// The help of a verb that talks to a server; empty for any other.
std::string_view client_help_text(std::string_view verb);

}  // namespace muster::cli
