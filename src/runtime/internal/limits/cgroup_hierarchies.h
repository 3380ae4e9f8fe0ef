#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/internal/limits/cgroup_limits.h"

namespace muster::runtime {

/// One tree of groups that is mounted here.
struct CgroupHierarchy {
    CgroupVersion version = CgroupVersion::kV2;
    /// Of a version 1 tree; a version 2 tree says it in a file.
    std::set<Controller> controllers;
    std::string root;  ///< where it is mounted
    std::string own;   ///< the group of this process, as a path of this machine

    friend bool operator==(const CgroupHierarchy&, const CgroupHierarchy&) = default;
};

/// From the content of /proc/self/mountinfo and /proc/self/cgroup: the trees that have a controller
/// of ours, and the one of version 2. A tree that is mounted several times counts once. `own` is
/// the root where our group is not visible, as in a container without a cgroup namespace.
std::vector<CgroupHierarchy> find_cgroup_hierarchies(std::string_view mountinfo,
                                                     std::string_view own_groups);

}  // namespace muster::runtime
