#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/daemon/state_home.h"
#include "runtime/surviving_pods.h"

namespace muster::cli {

namespace {

using control_plane::StateLock;

constexpr std::string_view kDownHelp =
    R"(Stops 'muster up' and ends its pods, even if it was killed before. Its state is kept: the next
'muster up' has its jobs and pods again.

Usage: muster down [FLAGS]

      --state DIR            its state directory (default: ~/.muster)
      --keep-pods            its pods keep running, and the next 'muster up' takes them over
      --kill                 at once, by SIGKILL

Exit status: 0 when it is no longer running, or was not; 1 when it could not be stopped.
)";

/// Sends a signal to the process and waits for its end. Uses a pidfd, so that it is this very
/// process.
Result<void> stop_process(const std::filesystem::path& home, control_plane::StateLock whose,
                          pid_t pid, int signal) {
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (fd < 0 && errno == ESRCH) return {};
    if (fd < 0) return system_error(fmt::format("finding process {}", pid), errno);
    // It may have ended, and another process got its number, between the lock and here.
    Result<std::optional<control_plane::Daemon>> still = control_plane::find_daemon(home, whose);
    if (still && *still && (**still).pid == pid &&
        ::syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0) < 0 && errno != ESRCH) {
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

/// Whether a process held it.
Result<bool> stop_holder(const std::filesystem::path& home, StateLock whose, int signal) {
    TRY(const std::optional<control_plane::Daemon> holder, control_plane::find_daemon(home, whose));
    if (holder) TRY_VOID(stop_process(home, whose, holder->pid, signal));
    return holder.has_value();
}

/// SIGTERM is what a service gets that is restarted, so it leaves the pods where they are.
int signal_for(const DownOptions& options) {
    if (options.kill) return SIGKILL;
    return options.keep_pods ? SIGTERM : SIGINT;
}

/// Of a daemon that was killed, or told to leave them.
Result<std::size_t> end_pods(const std::filesystem::path& home) {
    std::error_code missing;
    const std::filesystem::path node = home / control_plane::kNodeDirectory;
    if (!std::filesystem::exists(node, missing)) return std::size_t{0};
    // Prevents another process from taking them over meanwhile.
    TRY(const control_plane::StateHome held, control_plane::StateHome::take(home));
    return runtime::end_surviving_pods(node);
}

Result<std::string> stop(const DownOptions& options) {
    const std::filesystem::path home =
        control_plane::state_path(options.state_dir, control_plane::current_caller());
    const int signal = signal_for(options);
    // The supervisor first: it tells its daemon, and starts no other.
    TRY(const bool supervised, stop_holder(home, StateLock::kSupervisor, signal));
    TRY(const bool served, stop_holder(home, StateLock::kDaemon, signal));
    const bool was_up = supervised || served;
    std::string said = was_up
                           ? fmt::format("muster is down; its state is kept in {}", home.string())
                           : fmt::format("muster is not up in {}", home.string());
    if (options.keep_pods) return said + (was_up ? "; its pods keep running" : "");
    TRY(const std::size_t pods, end_pods(home));
    if (pods > 0) said += fmt::format("; {} pod{} ended", pods, pods == 1 ? "" : "s");
    return said;
}

int down(const DownOptions& options) {
    const Result<std::string> said = stop(options);
    if (!said) {
        fmt::print(stderr, "muster down: {}\n", said.error().message());
        return 1;
    }
    fmt::print("{}\n", *said);
    return 0;
}

class DownVerb final : public VerbOf<DownOptions> {
  public:
    DownVerb() : VerbOf("down", kDownHelp) {}

    void declare(Flags& flags) override {
        declare_state_flag(flags, options_.state_dir);
        flags.flag("--kill", options_.kill);
        flags.flag("--keep-pods", options_.keep_pods);
        flags.exclude("--keep-pods", "--kill");
    }
    int run() override { return down(options_); }
};

}  // namespace

std::unique_ptr<Verb> down_verb() { return std::make_unique<DownVerb>(); }

}  // namespace muster::cli
