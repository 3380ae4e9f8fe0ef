#pragma once

#include <sys/types.h>

#include <vector>

#include "base/unique_fd.h"

namespace muster::process {

/// Groups as a process has them that stays outside and starts processes inside. Plain system calls;
/// between fork and exec only enter() may be called.
///
/// Writing to a group's "cgroup.procs" would be the plain way in, but it waits until every
/// processor has passed through the scheduler, 5 to 20 ms. These do not: in version 1 a thread
/// moves itself by "tasks", and in version 2 the kernel clones a process into its group.
class CgroupEntry {
  public:
    CgroupEntry() = default;
    /// Directories of groups, in any order, at most one of them of version 2.
    explicit CgroupEntry(std::vector<UniqueFd> groups);

    /// The version 2 group that fork_into() begins a process in; -1: there is none, and an ordinary
    /// fork does.
    int target() const { return target_; }
    /// As fork(), but waits until the child has executed a program or is gone. Needs a target.
    pid_t fork_into() const;
    /// Takes the calling process, which has one thread, into the other groups; 0 or the error.
    int enter() const;

    /// The groups' processes get no more children, and where the kernel can do it (version 2) they
    /// are killed at once. So whoever kills them one by one comes to an end.
    void stop() const;

  private:
    std::vector<UniqueFd> groups_;
    std::vector<UniqueFd> tasks_;
    int target_ = -1;
};

}  // namespace muster::process
