#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "cli/caller.h"
#include "cli/internal/up/state_home.h"
#include "cli/verbs.h"

namespace muster::cli {

namespace {

/// Ends the process and waits for it. A pidfd, so that it is this very process.
Result<void> stop_process(pid_t pid, const std::filesystem::path& home, bool kill) {
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (fd < 0 && errno == ESRCH) return {};
    if (fd < 0) return system_error(fmt::format("finding process {}", pid), errno);
    // It may have ended, and another got its number, between the lock and here.
    Result<std::optional<Daemon>> still = find_daemon(home);
    if (still && *still && (**still).pid == pid &&
        ::syscall(SYS_pidfd_send_signal, fd, kill ? SIGKILL : SIGTERM, nullptr, 0) < 0 &&
        errno != ESRCH) {
        const int error = errno;
        ::close(fd);
        return system_error(fmt::format("stopping process {}", pid), error);
    }
    pollfd ended{fd, POLLIN, 0};
    while (::poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
    ::close(fd);
    return {};
}

}  // namespace

int down(const DownOptions& options) {
    const std::filesystem::path home = state_path(options.state_dir, current_caller());
    auto daemon = find_daemon(home);
    if (!daemon) {
        fmt::print(stderr, "muster down: {}\n", daemon.error().message());
        return 1;
    }
    if (!*daemon) {
        fmt::print("muster is not up in {}\n", home.string());
        return 0;
    }
    if (Result<void> stopped = stop_process((**daemon).pid, home, options.kill); !stopped) {
        fmt::print(stderr, "muster down: {}\n", stopped.error().message());
        return 1;
    }
    fmt::print("muster is down; its state is kept in {}\n", home.string());
    return 0;
}

}  // namespace muster::cli
