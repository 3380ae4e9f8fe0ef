#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/result.h"

namespace muster::runtime {

/// How a run's directory is recognised.
struct RunDirectories {
    std::filesystem::path parent;
    std::string_view prefix;  ///< of its name, before 16 hexadecimal digits
    std::string_view marker;  ///< a file that each has, unless its run was killed as it made it
};

/// Removes a run's directory with everything in it, its marker last: whoever is killed meanwhile
/// leaves what a clean-up still knows as a run's. No error if it does not exist.
std::error_code remove_run_directory(const std::filesystem::path& directory,
                                     std::string_view marker);

/// Removes what killed runs of this user left behind: their directories and cgroups, unless a
/// process holds their locks. Kills the processes that such a cgroup still has; but a cgroup whose
/// pods may outlive their node is removed only once it has none. What only has a similar name
/// stays. Returns what it removed. Blocks.
Result<std::vector<std::string>> remove_stale_state(const RunDirectories& directories);

}  // namespace muster::runtime
