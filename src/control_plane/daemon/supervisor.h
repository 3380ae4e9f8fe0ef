#pragma once

#include <filesystem>
#include <optional>
#include <variant>

#include "base/result.h"
#include "base/time/clock.h"

namespace muster::control_plane {

/// How a daemon has ended.
struct DaemonEnd {
    int signal = 0;  ///< 0: it exited by itself
    int exit_status = 0;
    Duration ran{};
};

/// Decides what a supervisor does when its daemon has ended. Pure.
class SupervisorState {
  public:
    struct Restart {
        Duration after{};

        friend bool operator==(const Restart&, const Restart&) = default;
    };
    struct End {
        int exit_status = 0;

        friend bool operator==(const End&, const End&) = default;
    };

    /// `stopping`: the supervisor was told to end, and has told the daemon. Otherwise a daemon that
    /// exits was stopped, with 0, or could not start, with another status: the first one for a
    /// reason that a person has to look at, a later one perhaps for one that passes.
    std::variant<Restart, End> ended(const DaemonEnd& end, bool stopping);

  private:
    Duration pause_{};  ///< the last one, 0 while no daemon has crashed
};

/// Keeps a daemon of the state directory `home` running: each daemon is a child of this process,
/// and after a crash the next one begins, with a back-off. All of them are in a cgroup of their own
/// beside those of pods (runtime/daemon_cgroup.h), so that pods with limits may outlive a daemon in
/// a service of any systemd.
///
/// Returns nullopt in each daemon, and in the supervisor its exit status, once no daemon is to
/// follow. kAlreadyExists if the directory has a supervisor. To be used before any thread or loop
/// exists.
Result<std::optional<int>> supervise(const std::filesystem::path& home);

}  // namespace muster::control_plane
