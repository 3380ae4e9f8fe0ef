#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::process {

enum class Controller : std::uint8_t { kMemory, kCpu, kPids };
inline constexpr Controller kControllers[] = {Controller::kMemory, Controller::kCpu,
                                              Controller::kPids};
/// The kernel's name of it.
std::string_view to_string(Controller controller);

enum class CgroupVersion : std::uint8_t { kV1, kV2 };

/// One mounted tree of groups.
struct CgroupHierarchy {
    CgroupVersion version = CgroupVersion::kV2;
    /// Of a version 1 tree; a version 2 tree lists them in a file.
    std::set<Controller> controllers;
    std::string root;  ///< its mount point
    std::string own;   ///< the group of this process, as a path of this machine

    friend bool operator==(const CgroupHierarchy&, const CgroupHierarchy&) = default;
};

/// From the content of /proc/self/mountinfo and /proc/self/cgroup: the trees with one of our
/// controllers, and the one of version 2. A tree that is mounted several times counts once. `own`
/// is the root if our group is not visible, as in a container without a cgroup namespace.
std::vector<CgroupHierarchy> find_cgroup_hierarchies(std::string_view mountinfo,
                                                     std::string_view own_groups);

/// How many processes of the group the kernel killed because memory ran out, from `text`, the
/// content of memory.events (version 2) or memory.oom_control (version 1); 0 if it does not say.
std::int64_t oom_kills(std::string_view text);

}  // namespace muster::process
