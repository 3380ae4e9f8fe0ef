#pragma once

#include <sys/types.h>

#include <vector>

// For programs that load no library: only plain system calls, and only parts of base/ that cost
// nothing.

namespace muster::process {

/// Kills all descendants of the calling process, which must be a subreaper, and reaps them. It
/// kills whole process groups, which a fork can't outrun; processes that leave their group at each
/// fork are hunted until none is left.
void kill_descendants();

/// Kills them in the same way without waiting: they still have to be reaped, and processes that
/// they started meanwhile still have to be killed. False if there was none.
bool kill_descendants_once();

/// All processes below `root`, without it, as far as /proc shows them.
std::vector<pid_t> descendants_of(pid_t root);

}  // namespace muster::process
