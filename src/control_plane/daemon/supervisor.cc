#include "control_plane/daemon/supervisor.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "base/log.h"
#include "base/signal_name.h"
#include "base/time/real_clock.h"
#include "control_plane/daemon/state_home.h"
#include "runtime/daemon_cgroup.h"

namespace muster::control_plane {

namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 1min;
/// One that ran for so long has nothing to do with the crashes before it.
constexpr Duration kSteady = 10min;
/// What a shell makes of a signal.
constexpr int kSignalled = 128;

/// The signals that a supervisor waits for. They stay blocked while this exists.
class BlockedSignals {
  public:
    BlockedSignals() {
        // Whoever started this process may have ignored it: then no end of a child is told.
        std::signal(SIGCHLD, SIG_DFL);
        sigemptyset(&signals_);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals_, signal);
        ::sigprocmask(SIG_BLOCK, &signals_, &before_);
    }
    ~BlockedSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

    int wait() const {
        for (;;)
            if (const int signal = ::sigwaitinfo(&signals_, nullptr); signal > 0) return signal;
    }
    /// nullopt when the time is over.
    std::optional<int> wait_for(Duration time) const {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
        const timespec limit{.tv_sec = seconds.count(),
                             .tv_nsec = static_cast<long>((time - seconds).count())};
        const int signal = ::sigtimedwait(&signals_, nullptr, &limit);
        return signal > 0 ? std::optional(signal) : std::nullopt;
    }

  private:
    sigset_t signals_{};
    sigset_t before_{};
};

std::string describe(const DaemonEnd& end) {
    if (end.signal == 0) return fmt::format("ended with exit status {}", end.exit_status);
    return fmt::format("was killed by {}", signal_name(end.signal));
}

class Supervisor {
  public:
    /// As supervise() does.
    std::optional<int> run() {
        for (;;) {
            const Instant begun = clock_.now();
            const pid_t daemon = ::fork();
            if (daemon == 0) return std::nullopt;
            DaemonEnd end{.exit_status = 1};
            if (daemon > 0)
                end = wait_for(daemon);
            else
                log::error("the daemon can't be started",
                           {{"error", system_error("fork", errno).message()}});
            end.ran = clock_.now() - begun;
            const auto next = state_.ended(end, stopping_);
            if (const auto* last = std::get_if<SupervisorState::End>(&next))
                return last->exit_status;
            const Duration pause = std::get<SupervisorState::Restart>(next).after;
            log::error(
                fmt::format("the daemon {}; the next one starts in {} s and takes over its "
                            "pods",
                            describe(end), pause / 1s));
            if (!waits_through(pause)) return 0;
        }
    }

  private:
    DaemonEnd wait_for(pid_t daemon) {
        for (;;) {
            const int signal = signals_.wait();
            if (signal != SIGCHLD) {
                stopping_ = true;
                ::kill(daemon, signal);
                continue;
            }
            int status = 0;
            if (::waitpid(daemon, &status, WNOHANG) != daemon) continue;
            if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
            return {.exit_status = WEXITSTATUS(status)};
        }
    }
    /// False if it was told to end meanwhile.
    bool waits_through(Duration pause) {
        const Instant end = clock_.now() + pause;
        for (;;) {
            const Duration left = end - clock_.now();
            if (left <= Duration::zero()) return true;
            const std::optional<int> signal = signals_.wait_for(left);
            if (signal && *signal != SIGCHLD) return false;
        }
    }

    RealClock clock_;
    BlockedSignals signals_;
    SupervisorState state_;
    bool stopping_ = false;
};

}  // namespace

std::variant<SupervisorState::Restart, SupervisorState::End> SupervisorState::ended(
    const DaemonEnd& end, bool stopping) {
    if (stopping) return End{end.signal != 0 ? kSignalled + end.signal : end.exit_status};
    const bool crashed_before = pause_ > Duration::zero();
    if (end.signal == 0 && (end.exit_status == 0 || !crashed_before)) return End{end.exit_status};
    if (!crashed_before || end.ran >= kSteady)
        pause_ = kFirstPause;
    else
        pause_ = std::min(2 * pause_, kLongestPause);
    return Restart{pause_};
}

Result<std::optional<int>> supervise(const std::filesystem::path& home) {
    TRY(const StateHome held, StateHome::take(home, StateLock::kSupervisor));
    auto group = runtime::DaemonCgroup::enter();
    if (!group)
        log::info("pods get no cgroups beside the daemon's", {{"error", group.error().message()}});
    const std::optional<int> status = Supervisor().run();
    if (status && group) group->leave();
    return status;
}

}  // namespace muster::control_plane
