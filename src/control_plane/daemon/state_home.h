#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "control_plane/daemon/caller.h"

namespace muster::control_plane {

/// Where the daemon's node keeps what its pods use; pods may outlive the daemon.
inline constexpr const char* kNodeDirectory = "node";

/// The process of a state directory.
struct Daemon {
    pid_t pid = 0;
    std::string address;       ///< "https://127.0.0.1:6443"; empty while it starts
    std::string version = {};  ///< of its program; empty for one that did not tell
};

/// Whose: a directory is one daemon's, and one supervisor's that starts its daemons.
enum class StateLock { kDaemon, kSupervisor };

/// The directory of one `muster up`, held by a lock while this exists. The kernel releases it when
/// the process ends in whatever way.
class StateHome {
  public:
    /// Makes the directory (0700) if it is missing. kAlreadyExists if another process holds it;
    /// kForbidden if others may write to it.
    static Result<StateHome> take(std::filesystem::path path, StateLock whose = StateLock::kDaemon);
    ~StateHome();
    StateHome(StateHome&& other) noexcept
        : path_(std::move(other.path_)),
          whose_(other.whose_),
          lock_(std::exchange(other.lock_, -1)) {}
    StateHome& operator=(StateHome&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Tells others where this process can be reached.
    Result<void> announce(const Daemon& daemon) const;

    /// A subdirectory (0700), made if it is missing.
    Result<std::filesystem::path> make_directory(const std::string& name) const;

    /// A file of the directory; nullopt if it does not exist.
    Result<std::optional<std::string>> read(const std::string& name) const;
    /// Replaces a file in one step; it is on disk when this returns; 0600.
    Result<void> write(const std::string& name, std::string_view text) const;

  private:
    StateHome(std::filesystem::path path, StateLock whose, int lock)
        : path_(std::move(path)), whose_(whose), lock_(lock) {}

    std::filesystem::path path_;
    StateLock whose_;
    int lock_ = -1;
};

/// The directory of --state (empty: ~/.muster), as an absolute path.
std::filesystem::path state_path(const std::string& option, const Caller& caller);

/// The process that holds that lock of a state directory; nullopt if there is none.
Result<std::optional<Daemon>> find_daemon(const std::filesystem::path& path,
                                          StateLock whose = StateLock::kDaemon);

/// Replaces a file that only this user may read, in one step. Makes its directory (0700) if it is
/// missing.
Result<void> write_private_file(const std::filesystem::path& path, std::string_view text);

}  // namespace muster::control_plane
