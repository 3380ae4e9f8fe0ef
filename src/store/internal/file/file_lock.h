#pragma once

#include <string>

#include "base/result.h"

namespace muster::store {

/// Keeps other processes from the file, by a lock on a file beside it that names the holder. The
/// kernel releases it when the process ends in whatever way. The lock file stays.
class FileLock {
  public:
    /// kUnavailable, with the holder's process id, if another process has it.
    static Result<FileLock> take(const std::string& path);
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&&) = delete;
    ~FileLock();

  private:
    explicit FileLock(int fd) : fd_(fd) {}

    int fd_;
};

}  // namespace muster::store
