#pragma once

#include <string>

#include "base/result.h"
#include "runtime/internal/limits/cgroup_files.h"

namespace muster::runtime {

/// Kills every process of a group and of those below it, except the calling one, waits until they
/// have ended, and removes the groups. For groups whose owner is gone.
Result<void> sweep_cgroup(CgroupFiles& files, const std::string& group);

/// Whether a group or one below it has a process.
Result<bool> has_processes(CgroupFiles& files, const std::string& group);

}  // namespace muster::runtime
