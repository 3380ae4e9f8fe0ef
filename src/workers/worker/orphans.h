#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"

// What a worker leaves whose shim was killed, in system calls. Nothing here waits.

namespace muster::workers {

/// Each process that was started with this entry in its environment, as a pidfd that is readable
/// when nothing of it is left but its status; and each child of ours that dies already: it has no
/// environment any more, and still has its files open, and its ports and devices with them.
std::vector<UniqueFd> find_orphans(const std::string& environment_entry);

/// Kills all of a cgroup of version 2. False: there is none, or its kernel can't.
bool kill_group(const std::string& group);

/// Whether any process is in a group or below it, as its file cgroup.events says.
bool is_populated(int events);

}  // namespace muster::workers
