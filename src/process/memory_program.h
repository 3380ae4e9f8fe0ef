#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::process {

/// A program that is carried in this one (its bytes, on pages of their own), as one to execute by
/// descriptor. It lies in memory, so that a rebuilt or removed file does not matter to who runs it.
/// kUnsupported where the system runs no such program; `what` is told then: "a pod's init".
Result<UniqueFd> open_memory_program(const char* name, std::span<const char> image,
                                     std::string_view what);

}  // namespace muster::process
