#pragma once

#include <filesystem>

#include "base/result.h"

namespace muster::control_plane {

/// Makes room for a new FILE: FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on up to FILE.KEPT,
/// which is replaced. Those that do not exist are passed over. Stops at the first error.
Result<void> renumber_files(const std::filesystem::path& file, unsigned kept);

}  // namespace muster::control_plane
