#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::pod_init {

/// A descriptor to execute a pod's init. The program is in memory, so that pods don't depend on a
/// file that may be rebuilt or removed. kUnsupported if the system does not run such programs.
Result<UniqueFd> open_program();

}  // namespace muster::pod_init
