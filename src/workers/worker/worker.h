#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "workers/worker/progress_file.h"
#include "workers/worker/shim_process.h"
#include "workers/worker/worker_set_state.h"

namespace muster::workers {

/// How a worker's process ended, according to its shim or the kernel.
struct ProcessEnd {
    int wait_status = 0;
    std::optional<WallTime> when = {};  ///< as reported by its shim
    std::string why = {};               ///< further detail; usually empty
};

/// One worker and its shim, as an agent sees them. Owns the connections to both, and reports what
/// becomes of them. Thread: the loop.
class Worker {
  public:
    enum class State : std::uint8_t {
        kStarting,
        kRuns,
        kFailed,  ///< it never ran: see failure()
        kEnded,
        kGone,  ///< no process of it is left, including its shim
    };

    /// `shim` is the pid of our child, or 0 if another agent started it. `changed` is notified
    /// after each step; `ended` is called when a worker that ran has ended.
    Worker(asio::any_io_executor executor, WorkerRecord record, ProgressFile progress,
           UniqueFd control, pid_t shim, Signal& changed,
           std::function<void(Worker&, ProcessEnd)> ended);

    /// Watches it until no process of it is left.
    void watch(Clock& clock);
    /// Returns when no process of it is left.
    Task<void> gone();
    /// Stops watching and leaves it running.
    Task<void> let_go();
    /// Turns a spare into a worker, with a new record and a new callback for its end.
    void become(WorkerRecord record, std::function<void(Worker&, ProcessEnd)> ended);
    /// Tells a spare's shim what the spare has become; the answer brings what take_streams()
    /// returns.
    Result<void> request_become(const ShimOrder& order);
    /// The worker's stdout and stderr, once; nullopt until the shim has answered.
    std::optional<Result<std::array<UniqueFd, 2>>> take_streams();
    /// Sends the signal, and SIGKILL after the grace, to all that it has started; then its shim ends
    /// too, once the console has accepted the output. At once, if there is no grace.
    void request_end(Duration grace, int signal);

    const WorkerRecord& record() const { return record_; }
    State state() const { return state_; }
    /// It ran and has ended.
    bool has_ended() const { return ended_; }
    /// No process of it is left but its shim, which still writes output to the console.
    bool only_shows() const { return only_shows_; }
    const ShimReport& failure() const { return failure_; }
    int pid() const { return pid_; }
    std::uint64_t steps() const { return progress_.steps(); }

  private:
    Task<void> watch_to_the_end(Clock& clock);
    Task<void> listen();
    /// Continues a shim that was stopped by a signal (SIGSTOP): the kernel has reported the end of
    /// its worker, and the shim can't.
    Task<void> wake_shim(Clock& clock);
    void take(ReceivedReport received);
    void tell(const ShimReport& report) const;
    void end(ProcessEnd how);
    Task<void> lose_shim();
    Task<void> end_orphans();

    asio::any_io_executor executor_;
    WorkerRecord record_;
    ProgressFile progress_;
    asio::posix::stream_descriptor control_;
    std::optional<asio::posix::stream_descriptor> worker_;  ///< pidfd
    std::optional<asio::posix::stream_descriptor> shim_;    ///< pidfd
    pid_t shim_pid_;
    int pid_ = 0;
    State state_ = State::kStarting;
    bool ended_ = false;
    ProcessEnd how_;
    std::optional<ReceivedReport> became_;
    bool asked_to_end_ = false;
    bool only_shows_ = false;
    Duration grace_ = {};  ///< the longest that it was given
    ShimReport failure_;
    Signal& changed_;
    Signal known_;  ///< the pidfds have arrived, or never will
    std::function<void(Worker&, ProcessEnd)> on_end_;
    TaskGroup tasks_;
};

}  // namespace muster::workers
