#pragma once

#include <sys/types.h>

#include <vector>

#include "base/unique_fd.h"

namespace muster::process {

/// Groups as seen by a process that stays outside and starts processes inside. Uses plain system
/// calls; between fork and exec only enter() may be called.
///
/// Writing to a group's "cgroup.procs" would be the usual way, but it waits until every processor
/// has passed through the scheduler, 5 to 20 ms. These do not: in version 1 a thread moves itself
/// by "tasks", and in version 2 the kernel clones a process into its group.
class CgroupEntry {
  public:
    CgroupEntry() = default;
    /// Directories of groups, in any order, at most one of them of version 2.
    explicit CgroupEntry(std::vector<UniqueFd> groups);

    /// The version 2 group that fork_into() starts a process in; -1 if there is none, and an
    /// ordinary fork will do.
    int target() const { return target_; }
    /// Like fork(), but waits until the child has executed a program or is gone. Needs a target.
    pid_t fork_into() const;
    /// Moves the calling process, which has one thread, into the other groups; 0 or the error.
    int enter() const;

    /// The groups' processes get no more children, and are killed immediately where the kernel can
    /// do that (version 2). So a caller that kills them one by one comes to an end.
    void stop() const;

  private:
    std::vector<UniqueFd> groups_;
    std::vector<UniqueFd> tasks_;
    int target_ = -1;
};

}  // namespace muster::process
