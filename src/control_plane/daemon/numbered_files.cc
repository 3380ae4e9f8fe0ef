#include "control_plane/daemon/numbered_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>

namespace muster::control_plane {

Result<void> renumber_files(const std::filesystem::path& file, unsigned kept) {
    const auto numbered = [&file](unsigned number) {
        return number == 0 ? file.string() : fmt::format("{}.{}", file.string(), number);
    };
    for (unsigned number = kept; number > 0; --number)
        if (std::rename(numbered(number - 1).c_str(), numbered(number).c_str()) != 0 &&
            errno != ENOENT)
            return system_error("can't be rotated", errno);
    return {};
}

}  // namespace muster::control_plane
