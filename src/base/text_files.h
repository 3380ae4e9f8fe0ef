#pragma once

#include <string>

#include "base/result.h"

namespace muster {

/// The content of a file whose size is not known before it is read, such as those of /proc and of
/// cgroups. Uses plain system calls.
Result<std::string> read_text(const std::string& path);

}  // namespace muster
