#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/cgroup_hierarchies.h"

namespace muster::runtime {

class CgroupFiles;

/// A cgroup `muster-daemon` (version 2) for a supervisor and the daemons that it starts. The kernel
/// lets no process into a group that limits groups below it; with the daemons one level down, the
/// group of the service has no processes, and is divided among the pods beside them.
class DaemonCgroup {
  public:
    /// Moves this process. Does nothing where that is needless: without a version 2 tree, in the
    /// tree's root, which may have both, or in such a group already. An error leaves it where it
    /// was.
    static Result<DaemonCgroup> enter();
    static Result<DaemonCgroup> enter(CgroupFiles& files,
                                      const std::vector<process::CgroupHierarchy>& hierarchies);

    /// Moves it back, and removes the group. It stays if pods do.
    void leave();

  private:
    Result<void> go_back();

    CgroupFiles* files_ = nullptr;
    std::string outer_;  ///< the group from which it came; empty if it was not moved
    std::set<process::Controller> before_;  ///< what `outer_` gave to groups below it
};

}  // namespace muster::runtime
