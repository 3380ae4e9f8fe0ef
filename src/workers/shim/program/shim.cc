#include "workers/shim/program/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>

#include "process/process_tree.h"
#include "workers/shim/order.h"
#include "workers/shim/program/job_files.h"
#include "workers/shim/program/left_behind.h"
#include "workers/shim/program/messages.h"
#include "workers/shim/program/output.h"
#include "workers/shim/program/worker.h"

namespace muster::workers {

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::int64_t clock_ns(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return now.tv_sec * kNanoseconds + now.tv_nsec;
}

/// How long the console may accept nothing before the rest of the output is left to the file.
constexpr std::int64_t kConsolePatience = 3 * kNanoseconds;
/// What a worker left behind is reported if it is still there after this time.
constexpr std::int64_t kLeftIsSlow = 1 * kNanoseconds;
/// After this time the agent is told that the console is being waited for.
constexpr std::int64_t kConsoleIsSlow = 1 * kNanoseconds;
/// How long others may keep it from the console then.
constexpr std::int64_t kTurnPatience = 60 * kNanoseconds;
/// How often a console is tried that another worker is writing to.
constexpr std::int64_t kTryAgain = kNanoseconds / 200;

int milliseconds(std::int64_t ns) {
    return static_cast<int>(std::clamp<std::int64_t>((ns + 999'999) / 1'000'000, 0, 1'000'000));
}

/// The shim keeps no hold of what its worker reads.
void let_go_of_input() {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0) return;
    ::dup2(null, STDIN_FILENO);
    if (null != STDIN_FILENO) ::close(null);
}

class Shim {
  public:
    explicit Shim(ShimOrder order)
        : order_(std::move(order)),
          out_(order_.out, order_, STDOUT_FILENO),
          error_(order_.error, order_, STDERR_FILENO) {
        sigset_t all;
        ::sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, nullptr);
        sigset_t children;
        ::sigemptyset(&children);
        ::sigaddset(&children, SIGCHLD);
        signals_ = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    }

    void run() {
        group_ = make_group(order_);
        if (start()) {
            while (!is_over()) turn();
        }
        kill_tree();
        for (Output* output : {&out_, &error_}) {
            output->read(true);
            output->finish();
            output->write_console();
        }
        show_rest();
        tell_unshown();
        remove_group(order_, group_);
        if (control_ < 0) remove_job_files(order_);
    }

  private:
    bool start() {
        const int out = out_.open();
        const int error = error_.open();
        WorkerStarted started{.stage = ShimStage::kPipe, .error = errno};
        if (out >= 0 && error >= 0) started = start_worker(order_, out, error, group_);
        if (out >= 0) ::close(out);
        if (error >= 0) ::close(error);
        if (order_.spare) ::close(kSpareControlFd);
        let_go_of_input();
        if (started.pid < 0) {
            ShimReport report;
            report.kind = ShimReport::Kind::kFailed;
            report.stage = started.stage;
            report.error = started.error;
            report.shim = ::getpid();
            send_report(control_, report, {});
            return false;
        }
        worker_ = started.pid;
        pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, worker_, 0));
        own_pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
        memory_error_ = started.memory_error;
        // The worker's programs and directories are not needed any more, and its environment may
        // hold secrets.
        order_.candidates = {};
        order_.arguments = {};
        order_.environment = {};
        if (::chdir("/") < 0) return false;
        greet();
        return true;
    }

    bool is_over() const { return (stopping_ || orphaned_for_good_) && tree_is_gone_; }

    /// Waits for one round of events, and handles them.
    void turn() {
        pollfd events[] = {{signals_, POLLIN, 0},         {kShimListenerFd, POLLIN, 0},
                           {control_, POLLIN, 0},         {out_.pipe(), POLLIN, 0},
                           {error_.pipe(), POLLIN, 0},    {out_.console(), POLLOUT, 0},
                           {error_.console(), POLLOUT, 0}};
        if (unsent_ && control_ >= 0) events[2].events |= POLLOUT;
        if (::poll(events, std::size(events), time_left_ms()) < 0 && errno != EINTR) return;
        if (events[3].revents != 0) out_.read(false);
        if (events[4].revents != 0) error_.read(false);
        if (events[5].revents != 0 || out_.is_blocked()) out_.write_console();
        if (events[6].revents != 0 || error_.is_blocked()) error_.write_console();
        tell_losses();
        if (events[0].revents != 0) reap();
        if (events[2].revents != 0) listen_to_agent(events[2].revents);
        if (events[1].revents != 0) accept_agent();
        end_in_time(clock_ns(CLOCK_MONOTONIC));
    }

    /// Does what is due: without an agent, and after the grace of a stop.
    void end_in_time(std::int64_t now) {
        if (control_ < 0 && !stopping_ && now >= orphaned_until_) {
            orphaned_for_good_ = true;
            kill_tree();
        }
        if (ended_ && !tree_is_gone_ && tell_left_at_ >= 0 && now >= tell_left_at_) {
            tell_left_at_ = -1;
            if (now < stop_until_) tell_left_behind(ShimReport::Kind::kLeft);
        }
        if (stopping_ && !tree_is_gone_ && now >= stop_until_) {
            if (ended_)
                tell_left_behind(ShimReport::Kind::kLeftOver);
            else if (had_grace_)
                tell(ShimReport::Kind::kForced);
            kill_tree();
        }
    }

    int time_left_ms() const {
        const bool blocked = out_.is_blocked() || error_.is_blocked();
        std::int64_t until = -1;
        if (stopping_)
            until =
                ended_ && tell_left_at_ >= 0 ? std::min(stop_until_, tell_left_at_) : stop_until_;
        else if (control_ < 0)
            until = orphaned_until_;
        else
            return blocked ? milliseconds(kTryAgain) : -1;
        const std::int64_t left = until - clock_ns(CLOCK_MONOTONIC);
        return milliseconds(blocked ? std::min(left, kTryAgain) : left);
    }

    /// Writes what the console has not accepted yet, for as long as it accepts any.
    void show_rest() {
        const std::int64_t begin = clock_ns(CLOCK_MONOTONIC);
        std::int64_t until = begin + kConsolePatience;
        bool told = false;
        while (out_.is_behind() || error_.is_behind()) {
            const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
            if (now >= until) return;
            if (!told && now >= begin + kConsoleIsSlow) {
                told = true;
                tell(ShimReport::Kind::kShows);
            }
            const bool blocked = out_.is_blocked() || error_.is_blocked();
            if (blocked && now < begin + kTurnPatience) until = now + kConsolePatience;
            pollfd events[] = {{out_.console(), POLLOUT, 0},
                               {error_.console(), POLLOUT, 0},
                               {control_, POLLIN, 0}};
            const std::int64_t pause = std::min(until - now, told ? until - now : kConsoleIsSlow);
            ::poll(events, std::size(events), milliseconds(blocked ? kTryAgain : pause));
            if (events[2].revents != 0 && must_hurry()) return;
            const std::uint64_t before = out_.shown_bytes() + error_.shown_bytes();
            out_.write_console();
            error_.write_console();
            if (out_.shown_bytes() + error_.shown_bytes() != before)
                until = clock_ns(CLOCK_MONOTONIC) + kConsolePatience;
        }
    }

    /// Whether the agent does not want to wait for the rest of the output.
    bool must_hurry() {
        const auto [size, request, file] = receive_request(control_);
        if (file >= 0) ::close(file);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
        if (size != sizeof request) {
            lose_agent();
            return false;
        }
        return request.kind == ShimRequest::Kind::kEnd && request.grace_ns <= 0;
    }

    void reap() {
        signalfd_siginfo signal;
        while (::read(signals_, &signal, sizeof signal) > 0) {
        }
        for (;;) {
            int status = 0;
            const pid_t pid = ::waitpid(-1, &status, WNOHANG);
            if (pid == 0) return;
            if (pid < 0) {
                if (errno == ECHILD) tree_is_gone_ = true;
                return;
            }
            if (pid == worker_ && !ended_) worker_ended(status);
        }
    }

    void worker_ended(int status) {
        const std::int64_t when = clock_ns(CLOCK_REALTIME);
        // Write its output before its end is reported.
        out_.read(true);
        error_.read(true);
        tell_losses();
        ended_.emplace();
        ended_->kind = ShimReport::Kind::kEnded;
        ended_->worker = worker_;
        ended_->shim = ::getpid();
        ended_->wait_status = status;
        ended_->wall_ns = when;
        ended_->lost_bytes = out_.lost_bytes() + error_.lost_bytes();
        tell_end();
        // What a dead worker leaves behind holds devices, ports and memory that its successor
        // needs. What a finished worker leaves may still be saving something, and has time until
        // the set is stopped.
        if (status != 0) kill_tree();
    }

    /// Blocks until the tree is gone.
    void kill_tree() {
        kill_group(group_);
        process::kill_descendants();
        if (worker_ > 0 && !ended_) {
            // Reaped there: it was killed on purpose.
            ended_.emplace();
            ended_->kind = ShimReport::Kind::kEnded;
            ended_->worker = worker_;
            ended_->wait_status = SIGKILL;
            ended_->wall_ns = clock_ns(CLOCK_REALTIME);
        }
        tree_is_gone_ = true;
    }

    void tell(ShimReport::Kind kind) {
        ShimReport report;
        report.kind = kind;
        report.worker = worker_;
        report.shim = ::getpid();
        if (control_ >= 0) send_report(control_, report, {});
    }

    /// What a worker that has ended left running.
    void tell_left_behind(ShimReport::Kind kind) {
        ShimReport report;
        report.kind = kind;
        report.worker = worker_;
        report.shim = ::getpid();
        const std::string names = describe_descendants(sizeof report.text - 1);
        if (names.empty() || control_ < 0) return;
        std::memcpy(report.text, names.data(), names.size());
        send_report(control_, report, {});
    }

    void tell_unshown() {
        std::uint32_t stream = 1;
        for (const Output* output : {&out_, &error_}) {
            ShimReport report;
            report.kind = ShimReport::Kind::kUnshown;
            report.worker = worker_;
            report.shim = ::getpid();
            report.error = output->console_error();
            report.stream = stream++;
            report.lost_bytes = output->unshown_bytes();
            std::snprintf(report.text, sizeof report.text, "%s", output->path());
            if (report.lost_bytes > 0 && control_ >= 0) send_report(control_, report, {});
        }
    }

    void greet() {
        ShimReport report;
        report.worker = worker_;
        report.shim = ::getpid();
        const int fds[] = {pidfd_, own_pidfd_};
        if (!send_report(control_, report, fds)) return lose_agent();
        if (memory_error_ != 0) {
            report.kind = ShimReport::Kind::kNote;
            report.error = memory_error_;
            std::snprintf(report.text, sizeof report.text, "its memory policy was refused: %s",
                          ::strerrordesc_np(memory_error_));
            send_report(control_, report, {});
        }
        tell_end();
    }

    void tell_end() {
        if (!ended_ || control_ < 0) return;
        // An agent that is stopped may have left no room: send it as soon as there is some.
        unsent_ = !send_report(control_, *ended_, {}) && errno == EAGAIN;
    }

    void tell_losses() {
        std::uint32_t stream = 1;
        for (const Output* output : {&out_, &error_}) {
            const std::uint32_t bit = stream++;
            if (output->first_error() == 0 || (told_losses_ & bit) != 0) continue;
            told_losses_ |= bit;
            ShimReport report;
            report.kind = ShimReport::Kind::kLost;
            report.worker = worker_;
            report.error = output->first_error();
            report.stream = bit;
            report.lost_bytes = output->lost_bytes();
            std::snprintf(report.text, sizeof report.text, "%s", output->path());
            if (control_ >= 0) send_report(control_, report, {});
        }
    }

    void listen_to_agent(short events) {
        if ((events & POLLOUT) != 0 && unsent_) tell_end();
        if ((events & ~POLLOUT) == 0) return;
        const auto [size, request, file] = receive_request(control_);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (size != sizeof request || request.version != kShimVersion) {
            if (file >= 0) ::close(file);
            return lose_agent();
        }
        if (request.kind == ShimRequest::Kind::kBecome) return become(file);
        if (file >= 0) ::close(file);
        const std::int64_t until =
            clock_ns(CLOCK_MONOTONIC) +
            std::clamp<std::int64_t>(request.grace_ns, 0, 1'000'000 * kNanoseconds);
        stop_until_ = stopping_ ? std::min(stop_until_, until) : until;
        if (!stopping_ && request.grace_ns > 0) {
            had_grace_ = true;
            if (!ended_) ::kill(-worker_, request.signal);
            tell_left_at_ = clock_ns(CLOCK_MONOTONIC) + kLeftIsSlow;
        }
        stopping_ = true;
    }

    /// The spare is a worker from now on, and writes to the worker's outputs.
    void become(int file) {
        std::optional<ShimOrder> order = read_order(file);
        if (!order || !order_.spare) return lose_agent();
        order_.spare = false;
        order_.files = std::move(order->files);
        out_.take(order->out, *order);
        error_.take(order->error, *order);
        const int streams[] = {out_.open(), error_.open()};
        ShimReport report;
        report.kind = ShimReport::Kind::kBecame;
        report.worker = worker_;
        report.shim = ::getpid();
        const bool both = streams[0] >= 0 && streams[1] >= 0;
        if (!both) report.error = errno;
        send_report(control_, report,
                    both ? std::span<const int>(streams) : std::span<const int>());
        for (const int stream : streams)
            if (stream >= 0) ::close(stream);
    }

    void lose_agent() {
        if (control_ >= 0) ::close(control_);
        control_ = -1;
        unsent_ = false;
        orphaned_until_ = clock_ns(CLOCK_MONOTONIC) +
                          static_cast<std::int64_t>(order_.orphan_grace_ms) * 1'000'000;
    }

    void accept_agent() {
        const int connection =
            ::accept4(kShimListenerFd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (connection < 0) return;
        if (!is_of_our_user(connection)) {
            ::close(connection);
            return;
        }
        if (control_ >= 0) ::close(control_);
        control_ = connection;
        greet();
    }

    ShimOrder order_;
    Output out_;
    Output error_;
    int signals_ = -1;
    int control_ = kShimControlFd;  ///< -1: no agent
    int group_ = -1;
    int pidfd_ = -1;
    int own_pidfd_ = -1;
    pid_t worker_ = -1;
    int memory_error_ = 0;
    std::optional<ShimReport> ended_;
    bool unsent_ = false;  ///< ended_ has not been sent to this agent yet
    std::uint32_t told_losses_ = 0;
    bool tree_is_gone_ = false;
    bool stopping_ = false;
    bool had_grace_ = false;          ///< when it was asked to end
    std::int64_t tell_left_at_ = -1;  ///< when to tell what is left behind; -1: no more
    std::int64_t stop_until_ = 0;
    bool orphaned_for_good_ = false;
    std::int64_t orphaned_until_ = 0;
};

}  // namespace

int run_shim() {
    for (const int fd : {kShimControlFd, kShimListenerFd, kShimOrderFd})
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    // Close what the agent's own parent left open.
    ::syscall(SYS_close_range, kSpareControlFd + 1, ~0U, 0);
    ::setsid();
    ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, children have no exit status
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, "muster-shim");
    auto order = read_order(kShimOrderFd);
    if (!order || !order->spare)
        ::close(kSpareControlFd);
    else
        ::fcntl(kSpareControlFd, F_SETFD, FD_CLOEXEC);
    if (!order) {
        ShimReport report;
        report.kind = ShimReport::Kind::kFailed;
        report.error = EINVAL;
        send_report(kShimControlFd, report, {});
        return 0;
    }
    Shim(*std::move(order)).run();
    return 0;
}

}  // namespace muster::workers
