#pragma once

#include <filesystem>

#include "base/result.h"
#include "base/rng.h"
#include "runtime/cleanup_process.h"

namespace muster::control_plane {

/// Prefix of the name of a run's directory, before 16 hexadecimal digits. If no process has locked
/// it, a killed run left it behind.
inline constexpr const char* kStateDirPrefix = "muster-run-";

/// An empty file in it: a clean-up removes no directory that only has such a name.
inline constexpr const char* kStateDirMarker = ".muster-run";

/// The same for a directory that is kept; no clean-up touches it.
inline constexpr const char* kKeptDirPrefix = "muster-kept-";

/// A private directory (0700) for one run, locked (flock) while it exists, and removed at the end
/// with everything in it unless it is kept.
class StateDir {
  public:
    /// Below `parent`, with a unique name. With a cleanup process it is also removed if this
    /// process is killed.
    static Result<StateDir> create(const std::filesystem::path& parent, Rng& rng,
                                   runtime::CleanupProcess& cleanup);
    /// One that stays, under a name that no clean-up touches.
    static Result<StateDir> create_kept(const std::filesystem::path& parent, Rng& rng);
    ~StateDir();

    StateDir(StateDir&& other) noexcept
        : path_(std::exchange(other.path_, {})),
          lock_(std::exchange(other.lock_, -1)),
          kept_(other.kept_) {}
    StateDir& operator=(StateDir&&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    StateDir(std::filesystem::path path, int lock, bool kept)
        : path_(std::move(path)), lock_(lock), kept_(kept) {}

    std::filesystem::path path_;
    int lock_ = -1;
    bool kept_ = false;
};

}  // namespace muster::control_plane
