#pragma once

#include <filesystem>

#include "base/result.h"

namespace muster::control_plane {

/// Makes room for a new FILE: FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on up to FILE.KEPT,
/// which is replaced. Those that do not exist are passed over. Stops at the first error.
Result<void> renumber_files(const std::filesystem::path& file, unsigned kept);

/// Whether `descriptor` is the file at that path: not if it was deleted, moved or replaced since it
/// was opened.
bool is_open_at(int descriptor, const std::filesystem::path& path);

}  // namespace muster::control_plane
