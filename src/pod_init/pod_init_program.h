#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::pod_init {

/// A pod's init as a program to execute by descriptor. It lies in memory, so that a rebuilt or
/// removed file does not matter to pods. kUnsupported where the system runs no such program.
Result<UniqueFd> open_program();

}  // namespace muster::pod_init
