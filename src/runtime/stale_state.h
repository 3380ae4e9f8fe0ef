#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::runtime {

/// Removes what killed runs of this user left behind: directories of `temporary` whose names begin
/// with `prefix`, and cgroups, unless a process holds their locks. Kills the processes that such a
/// cgroup still has; but a cgroup whose pods may outlive their node is removed only once it has
/// none. Returns what it removed. Blocks.
Result<std::vector<std::string>> remove_stale_state(const std::filesystem::path& temporary,
                                                    std::string_view prefix);

}  // namespace muster::runtime
