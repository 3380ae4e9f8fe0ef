#include "store/internal/file/file_place.h"

#include <sys/stat.h>

#include <utility>

#include "store/internal/file/sqlite.h"

namespace muster::store {

FilePlace::FilePlace(std::string path)
    : path_(std::move(path)),
      log_path_(path_ + "-wal"),
      file_(identity_of(path_)),
      log_(identity_of(log_path_)) {}

FilePlace::Identity FilePlace::identity_of(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) < 0) return {};
    return {.device = found.st_dev, .inode = found.st_ino};
}

Result<void> FilePlace::check() const {
    for (const auto& [path, known] : {std::pair(&path_, file_), std::pair(&log_path_, log_)}) {
        if (identity_of(*path) == known) continue;
        return file_error(*path, "keeping what was written",
                          "it was deleted or replaced while it was in use",
                          "start again; what was written before is lost unless there is a copy");
    }
    return {};
}

}  // namespace muster::store
