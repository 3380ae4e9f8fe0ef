#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace muster::cli {

/// Writes a text to a file that does not exist yet; one with the same text may. kAlreadyExists: it
/// has another text, which stays. A file that could not be written whole is removed.
Result<void> write_new_file(const std::filesystem::path& file, std::string_view text);

}  // namespace muster::cli
