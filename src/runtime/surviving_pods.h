#pragma once

#include <cstddef>
#include <filesystem>

#include "base/result.h"

namespace muster::runtime {

/// Ends the pods that still run although the node of this state directory has ended
/// (NodeOptions::pods_outlive), and removes what they had. Returns how many there were. No node may
/// use that directory meanwhile. Blocks.
Result<std::size_t> end_surviving_pods(const std::filesystem::path& state_dir);

}  // namespace muster::runtime
