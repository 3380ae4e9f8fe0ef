#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::runtime {

/// The whole of a file whose size is not known before it is read, as those of /proc and of cgroups.
/// Plain system calls.
Result<std::string> read_text(const std::string& path);

/// Takes what comes before `separator` off the front of `text`, and the separator with it; all of
/// it where there is none.
std::string_view take_field(std::string_view& text, char separator);

}  // namespace muster::runtime
