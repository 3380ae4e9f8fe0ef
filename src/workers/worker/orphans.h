#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"

// What a worker leaves behind when its shim was killed; system calls. Nothing here blocks.

namespace muster::workers {

/// Pidfds, readable once a process is dead, of each process that was started with this entry in its
/// environment, and of each dying child of ours: it has no environment any more, but still holds
/// its files, ports and devices.
std::vector<UniqueFd> find_orphans(const std::string& environment_entry);

/// Kills all processes of a cgroup of version 2. False if there is none, or the kernel can't.
bool kill_group(const std::string& group);

/// Whether any process is in a cgroup or below it, according to its open cgroup.events file.
bool is_populated(int events);

}  // namespace muster::workers
