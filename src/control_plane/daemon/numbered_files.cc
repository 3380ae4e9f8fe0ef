#include "control_plane/daemon/numbered_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

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

bool is_open_at(int descriptor, const std::filesystem::path& path) {
    struct stat open{};
    struct stat there{};
    return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &there) == 0 &&
           open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

}  // namespace muster::control_plane
