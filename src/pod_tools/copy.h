#pragma once

#include <string>

#include "base/result.h"

namespace muster::pod_tools {

/// Puts a copy of the program `from` at `to`, for everybody to run. Whoever looks sees the old file
/// or the whole new one, and who runs the old one goes on with it; what failed leaves nothing. The
/// directory is there already.
Result<void> copy_program(const std::string& from, const std::string& to);

}  // namespace muster::pod_tools
