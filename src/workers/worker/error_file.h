#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"

namespace muster::workers {

/// The content of the file that TORCHELASTIC_ERROR_FILE names, as torch's @record writes it
/// (upstream: torch/distributed/elastic/multiprocessing/errors/error_handler.py).
struct ErrorFile {
    std::string message = {};    ///< "ValueError: no such column"; what is wrong with the file
    std::string traceback = {};  ///< empty if there is none
    /// whole seconds, unless the file's modification time is more exact
    std::optional<WallTime> when;
    std::string content = {};  ///< as read_error_file() found it
};

/// Parses the content; `written` is the file's modification time. Never fails: for a file that was
/// truncated or is no such file, the message says so.
ErrorFile parse_error_file(std::string_view content, std::optional<WallTime> written);

/// nullopt if the file does not exist.
std::optional<ErrorFile> read_error_file(const std::filesystem::path& path);

}  // namespace muster::workers
