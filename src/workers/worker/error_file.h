#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"

namespace muster::workers {

/// What a worker left in the file that TORCHELASTIC_ERROR_FILE names, as torch's @record writes it
/// (upstream: torch/distributed/elastic/multiprocessing/errors/error_handler.py).
struct ErrorFile {
    std::string message = {};      ///< "ValueError: no such column"; what is wrong with the file
    std::string traceback = {};    ///< empty: it has none
    std::optional<WallTime> when;  ///< in whole seconds, unless the file's own time tells more
};

/// From its content and the time at which it was last written. Never fails: of a file that was cut
/// off or is no such file the message says so.
ErrorFile parse_error_file(std::string_view content, std::optional<WallTime> written);

/// Nothing: there is none.
std::optional<ErrorFile> read_error_file(const std::filesystem::path& path);

}  // namespace muster::workers
