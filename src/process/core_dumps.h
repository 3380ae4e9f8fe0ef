#pragma once

#include <sys/resource.h>

namespace muster::process {

/// From now on this process leaves no core dump, as there are keys in its memory: neither a file nor
/// what the kernel hands to a program that collects dumps. Returns the soft limit that it had, which
/// programs that it starts may have again.
rlim_t forbid_core_dumps();

}  // namespace muster::process
