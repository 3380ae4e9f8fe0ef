#pragma once

#include <string>

#include "base/result.h"

namespace muster::pod_tools {

/// Puts a copy of the program `from` at `to`, for everyone to run. Readers see the old file or the
/// complete new one, and processes that run the old one continue with it; a failure leaves nothing
/// behind. The directory must exist.
Result<void> copy_program(const std::string& from, const std::string& to);

}  // namespace muster::pod_tools
