#pragma once

#include <filesystem>

#include "base/result.h"

namespace muster::cli {

/// What the name of a run's directory begins with. Such a directory that nobody has locked is what
/// a killed run left.
inline constexpr const char* kStateDirPrefix = "muster-run-";

/// A private directory (0700) for one run, locked (flock) while it lives, and removed with
/// everything in it at the end unless kept.
class StateDir {
  public:
    /// Below `parent`; the name is unique. A kept one has another name, under which nothing that
    /// cleans up looks for it.
    static Result<StateDir> create(const std::filesystem::path& parent, bool kept);
    ~StateDir();

    StateDir(StateDir&& other) noexcept
        : path_(std::exchange(other.path_, {})),
          lock_(std::exchange(other.lock_, -1)),
          kept_(other.kept_) {}
    StateDir& operator=(StateDir&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// The descriptor with the lock; -1 for a kept one, which has none.
    int lock() const { return lock_; }

  private:
    StateDir(std::filesystem::path path, int lock, bool kept)
        : path_(std::move(path)), lock_(lock), kept_(kept) {}

    std::filesystem::path path_;
    int lock_ = -1;
    bool kept_ = false;
};

}  // namespace muster::cli
