#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

/// The content of a file whose size is not known before it is read, such as those of /proc and of
/// cgroups. Uses plain system calls.
Result<std::string> read_text(const std::string& path);

/// Writes all of a text to a descriptor that blocks. Returns 0, or the errno of what failed, when a
/// part may have been written.
[[nodiscard]] int write_all(int descriptor, std::string_view text);

}  // namespace muster
