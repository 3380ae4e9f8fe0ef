#pragma once

#include <string>

#include "base/result.h"

namespace muster {

/// The whole of a file whose size is not known before it is read, as those of /proc and of cgroups.
/// Plain system calls.
Result<std::string> read_text(const std::string& path);

}  // namespace muster
