#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::pod_tools {

// Each puts something into a directory that must exist, in one step: readers see what was there or
// the complete new file, and processes that run an old one continue with it. A failure leaves nothing
// behind.

/// A copy of the program `from` at `to`, for everyone to run.
Result<void> copy_program(const std::string& from, const std::string& to);

/// A file with these bytes.
Result<void> write_file(std::string_view bytes, const std::string& to, mode_t mode);

/// A symbolic link at `to` that leads to `from`, as that is written.
Result<void> make_link(const std::string& from, const std::string& to);

}  // namespace muster::pod_tools
