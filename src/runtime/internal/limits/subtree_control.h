#pragma once

#include <set>
#include <string>
#include <string_view>

#include "process/cgroup_hierarchies.h"

namespace muster::runtime {

// What a group of version 2 gives to the groups below it.
inline constexpr std::string_view kSubtree = "cgroup.subtree_control";
inline constexpr std::string_view kProcesses = "cgroup.procs";

/// "+memory +cpu".
std::string switches(const std::set<process::Controller>& controllers, char sign);
/// Our controllers among those of a file: "cpu memory io\n".
std::set<process::Controller> listed(std::string_view text);
std::set<process::Controller> without(std::set<process::Controller> all,
                                      const std::set<process::Controller>& some);

}  // namespace muster::runtime
