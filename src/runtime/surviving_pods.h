#pragma once

#include <cstddef>
#include <filesystem>

#include "base/result.h"

namespace muster::runtime {

/// Ends the pods that still run although their node, whose state directory this is, has ended
/// (NodeOptions::pods_outlive), and removes what they had. Says how many there were. Nothing may
/// have a node on that directory meanwhile. Blocks.
Result<std::size_t> end_surviving_pods(const std::filesystem::path& state_dir);

}  // namespace muster::runtime
