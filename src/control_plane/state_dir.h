#pragma once

#include <filesystem>

#include "base/result.h"
#include "base/rng.h"
#include "runtime/cleanup_process.h"

namespace muster::control_plane {

/// What the name of a run's directory begins with. Such a directory that nobody has locked is what
/// a killed run left.
inline constexpr const char* kStateDirPrefix = "muster-run-";

/// The same of one that is kept; nothing that cleans up looks for it.
inline constexpr const char* kKeptDirPrefix = "muster-kept-";

/// A private directory (0700) for one run, locked (flock) while it lives, and removed with
/// everything in it at the end unless kept.
class StateDir {
  public:
    /// Below `parent`; the name is unique. With a cleanup process it is also removed if this
    /// process is killed.
    static Result<StateDir> create(const std::filesystem::path& parent, Rng& rng,
                                   runtime::CleanupProcess& cleanup);
    /// One that stays, under a name that nothing which cleans up looks for.
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
