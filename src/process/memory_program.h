#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::process {

/// A descriptor to execute a program that is embedded in this one (its bytes, on pages of their
/// own). It is in memory, so that processes that run it don't depend on a file that may be rebuilt
/// or removed. kUnsupported if the system does not run such programs; `what` is for that message:
/// "a pod's init".
Result<UniqueFd> open_memory_program(const char* name, std::span<const char> image,
                                     std::string_view what);

}  // namespace muster::process
