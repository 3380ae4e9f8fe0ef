#pragma once

#include <sys/types.h>

#include <vector>

// For programs that load no library: plain system calls, and nothing of base/ but what costs
// nothing.

namespace muster::process {

/// Kills all descendants of the calling process, which must be a subreaper, and reaps them. Whole
/// process groups at a time, which a fork can't outrun; what forks and leaves its group at each
/// fork is hunted until none is left.
void kill_descendants();

/// Kills them without waiting, in the same way; they are still to be reaped, and what one of them
/// started meanwhile is still to be killed. False: there was none.
bool kill_descendants_once();

/// All below `root`, without it, as far as /proc shows them.
std::vector<pid_t> descendants_of(pid_t root);

}  // namespace muster::process
