#include "workers/worker/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <cstring>

#include "base/async/first_of.h"
#include "base/log.h"
#include "base/time/restarting_task.h"
#include "workers/worker/orphans.h"

namespace muster::workers {

namespace {

/// A shim reports an end in less than a millisecond, unless it is stopped.
constexpr Duration kShimAnswers = std::chrono::milliseconds(100);

constexpr auto kReadable = asio::posix::stream_descriptor::wait_read;
constexpr auto kChanged = asio::posix::stream_descriptor::wait_error;

void signal_process(asio::posix::stream_descriptor& pidfd, int signal) {
    ::syscall(SYS_pidfd_send_signal, pidfd.native_handle(), signal, nullptr, 0);
}

/// The wait status of a process that has become our child and has ended.
std::optional<int> reap(int pidfd) {
    siginfo_t info{};
    if (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG) < 0 ||
        info.si_pid == 0)
        return std::nullopt;
    return info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
}

}  // namespace

Worker::Worker(asio::any_io_executor executor, WorkerRecord record, ProgressFile progress,
               UniqueFd control, pid_t shim, Signal& changed,
               std::function<void(Worker&, ProcessEnd)> ended)
    : executor_(executor),
      record_(std::move(record)),
      progress_(std::move(progress)),
      control_(executor, control.release()),
      shim_pid_(shim),
      changed_(changed),
      known_(executor),
      on_end_(std::move(ended)),
      tasks_(executor) {}

void Worker::watch(Clock& clock) {
    spawn_restarting(tasks_, clock, "worker", [this, &clock] { return watch_to_the_end(clock); });
}

Task<void> Worker::gone() { co_await tasks_.join(); }

Task<void> Worker::let_go() { co_await tasks_.stop(); }

void Worker::become(WorkerRecord record, std::function<void(Worker&, ProcessEnd)> ended) {
    record_ = std::move(record);
    on_end_ = std::move(ended);
    if (ended_) on_end_(*this, how_);
}

Result<void> Worker::request_become(const ShimOrder& order) {
    return workers::request_become(control_.native_handle(), order);
}

std::optional<Result<std::array<UniqueFd, 2>>> Worker::take_streams() {
    if (!became_) return std::nullopt;
    std::vector<UniqueFd> fds = std::move(became_->fds);
    const int error = became_->report.error;
    became_.reset();
    if (fds.size() != 2) return Error(system_error("opening what a worker writes to", error));
    return std::array{std::move(fds[0]), std::move(fds[1])};
}

Task<void> Worker::watch_to_the_end(Clock& clock) {
    co_await first_of(listen(), wake_shim(clock));
    // Its end of the conversation closes when it dies, or a moment earlier.
    if (shim_) {
        co_await shim_->async_wait(kReadable, asio::use_awaitable);
        // The shim of another agent is our child only if it was reparented to us; otherwise this
        // does nothing.
        (void)reap(shim_->native_handle());
    } else if (shim_pid_ > 0) {
        ::waitpid(shim_pid_, nullptr, 0);
    }
    // It ends by itself only when asked to, or if it never had a worker.
    if (!asked_to_end_ && state_ != State::kFailed) co_await lose_shim();
    state_ = State::kGone;
    changed_.notify_all();
}

void Worker::request_end(Duration grace, int signal) {
    if (state_ == State::kGone) return;
    asked_to_end_ = true;
    grace_ = std::max(grace_, grace);
    if (shim_) signal_process(*shim_, SIGCONT);
    // Fails if the shim is gone, which listen() notices.
    (void)workers::request_end(control_.native_handle(), grace.count(), signal);
}

Task<void> Worker::listen() {
    for (;;) {
        Result<std::optional<ReceivedReport>> received = receive_report(control_.native_handle());
        if (!received) co_return;
        if (*received) {
            take(**std::move(received));
            continue;
        }
        co_await control_.async_wait(kReadable, asio::use_awaitable);
    }
}

Task<void> Worker::wake_shim(Clock& clock) {
    while (!worker_) co_await known_.wait();
    co_await worker_->async_wait(kReadable, asio::use_awaitable);
    while (!ended_) {
        co_await clock.sleep_for(kShimAnswers);
        if (!ended_ && shim_) signal_process(*shim_, SIGCONT);
    }
    // Only the end of the shim counts.
    for (;;) co_await known_.wait();
}

void Worker::take(ReceivedReport received) {
    const ShimReport& report = received.report;
    switch (report.kind) {
        case ShimReport::Kind::kRuns:
            if (received.fds.size() == 2) {
                worker_.emplace(executor_, received.fds[0].release());
                shim_.emplace(executor_, received.fds[1].release());
            }
            pid_ = report.worker;
            shim_pid_ = report.shim;
            state_ = State::kRuns;
            known_.notify_all();
            changed_.notify_all();
            break;
        case ShimReport::Kind::kFailed:
            failure_ = report;
            state_ = State::kFailed;
            changed_.notify_all();
            break;
        case ShimReport::Kind::kShows:
            only_shows_ = true;
            break;
        case ShimReport::Kind::kBecame:
            became_ = std::move(received);
            changed_.notify_all();
            break;
        case ShimReport::Kind::kEnded:
            if (report.lost_bytes > 0 && !ended_)
                log::warning("bytes of a worker's output were lost in total",
                             {{"rank", record_.rank}, {"bytes", report.lost_bytes}});
            end({.wait_status = report.wait_status,
                 .when = WallTime{Duration{report.wall_ns}},
                 .why = {}});
            break;
        default:
            tell(report);
            break;
    }
}

/// For people.
void Worker::tell(const ShimReport& report) const {
    using Kind = ShimReport::Kind;
    const std::string text(report.text, ::strnlen(report.text, sizeof report.text));
    const char* const stream = report.stream == 1 ? "stdout" : "stderr";
    const double seconds = std::chrono::duration<double>(grace_).count();
    if (report.kind == Kind::kNote)
        log::warning("a worker does not run as ordered", {{"rank", record_.rank}, {"why", text}});
    else if (report.kind == Kind::kLost)
        log::warning("a part of a worker's output was lost: its log can't be written",
                     {{"rank", record_.rank},
                      {"stream", stream},
                      {"file", text},
                      {"error", ::strerrordesc_np(report.error)}});
    else if (report.kind == Kind::kForced)
        log::warning("a worker has not ended in time: SIGKILL is sent to it",
                     {{"rank", record_.rank}, {"pid", report.worker}, {"seconds", seconds}});
    else if (report.kind == Kind::kLeft)
        log::warning("what a worker left behind may finish before the node ends",
                     {{"rank", record_.rank}, {"seconds", seconds}, {"processes", text}});
    else if (report.kind == Kind::kLeftOver)
        log::warning("what a worker left behind has not finished in time: SIGKILL is sent to it",
                     {{"rank", record_.rank}, {"processes", text}});
    else if (report.kind == Kind::kUnshown)
        log::warning(text.empty() ? "a part of a worker's output was not shown, and it has no file"
                                  : "a part of a worker's output is in its file only",
                     {{"rank", record_.rank},
                      {"stream", stream},
                      {"bytes", report.lost_bytes},
                      {"file", text},
                      {"why", report.error != 0 ? ::strerrordesc_np(report.error)
                                                : "the reader was too slow"}});
}

void Worker::end(ProcessEnd how) {
    if (ended_) return;
    ended_ = true;
    state_ = State::kEnded;
    how_ = std::move(how);
    on_end_(*this, how_);
    changed_.notify_all();
}

Task<void> Worker::lose_shim() {
    log::warning("a worker's shim was killed: the worker and all its processes are killed too",
                 {{"rank", record_.rank}, {"pid", pid_}});
    std::optional<int> status;
    if (worker_) {
        // The kernel kills it with its shim.
        signal_process(*worker_, SIGKILL);
        co_await worker_->async_wait(kReadable, asio::use_awaitable);
        status = reap(worker_->native_handle());
    }
    co_await end_orphans();
    end({.wait_status = status.value_or(SIGKILL),
         .when = {},
         .why = "it was killed together with its shim"});
}

/// Everything that the worker started, until no such process holds a file open.
Task<void> Worker::end_orphans() {
    const std::string mark = "MUSTER_PROGRESS=" + record_.progress;
    // Find them before killing any: dying processes can't be told from others.
    std::vector<UniqueFd> orphans = find_orphans(mark);
    const bool killed = kill_group(record_.group);
    while (!orphans.empty()) {
        for (UniqueFd& orphan : orphans) {
            asio::posix::stream_descriptor process(executor_, orphan.release());
            signal_process(process, SIGKILL);
            co_await process.async_wait(kReadable, asio::use_awaitable);
            (void)reap(process.native_handle());
        }
        orphans = find_orphans(mark);
    }
    if (record_.group.empty()) co_return;
    // The cgroup also has those that have changed their environment.
    UniqueFd events(::open((record_.group + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
    if (killed && events) {
        asio::posix::stream_descriptor group(executor_, events.release());
        while (is_populated(group.native_handle()))
            co_await group.async_wait(kChanged, asio::use_awaitable);
    }
    ::rmdir(record_.group.c_str());
}

}  // namespace muster::workers
