#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::runtime {

/// Removes what killed runs of this user left: directories of `temporary` whose names begin with
/// `prefix`, and cgroups, as far as no process holds their locks. Processes that such a cgroup
/// still has are killed; but one whose pods may outlive their node goes only once it has none. Says
/// what it removed. Blocks.
Result<std::vector<std::string>> remove_stale_state(const std::filesystem::path& temporary,
                                                    std::string_view prefix);

}  // namespace muster::runtime
