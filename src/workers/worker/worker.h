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

/// How a worker's process ended, as its shim or the kernel says.
struct ProcessEnd {
    int wait_status = 0;
    std::optional<WallTime> when = {};  ///< by its shim
    std::string why = {};               ///< beside the status; mostly empty
};

/// One worker and its shim, as an agent sees them. Owns its ends of both; says what becomes of
/// them. Thread: the loop.
class Worker {
  public:
    enum class State : std::uint8_t {
        kStarting,
        kRuns,
        kFailed,  ///< it never ran: failure()
        kEnded,
        kGone,  ///< nothing of it is left, its shim included
    };

    /// `shim` is our child's pid, or 0 when another agent started it. `changed` is notified after
    /// each step, `ended` called at the end of a worker that ran.
    Worker(asio::any_io_executor executor, WorkerRecord record, ProgressFile progress,
           UniqueFd control, pid_t shim, Signal& changed,
           std::function<void(Worker&, ProcessEnd)> ended);

    /// Watches it until nothing of it is left.
    void watch(Clock& clock);
    /// Returns then.
    Task<void> gone();
    /// It goes on without us.
    Task<void> let_go();
    /// A spare is a worker from now on: another record, and somebody else hears of its end.
    void become(WorkerRecord record, std::function<void(Worker&, ProcessEnd)> ended);
    /// A spare's shim is told what the spare has become; streams() are there with the answer.
    Result<void> request_become(const ShimOrder& order);
    /// What it shall write to, output and error, once; nothing: no answer yet.
    std::optional<Result<std::array<UniqueFd, 2>>> take_streams();
    /// SIGTERM, and SIGKILL after the grace, to all that it has started; then its shim ends too.
    void request_end(Duration grace);

    const WorkerRecord& record() const { return record_; }
    State state() const { return state_; }
    /// It ran, and has ended.
    bool has_ended() const { return ended_; }
    const ShimReport& failure() const { return failure_; }
    int pid() const { return pid_; }
    std::uint64_t steps() const { return progress_.steps(); }

  private:
    Task<void> watch_to_the_end(Clock& clock);
    Task<void> listen();
    /// A shim that somebody stopped can't tell the end that the kernel tells.
    Task<void> wake_shim(Clock& clock);
    void take(ReceivedReport received);
    void end(ProcessEnd how);
    Task<void> lose_shim();
    Task<void> end_strays();

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
    ShimReport failure_;
    Signal& changed_;
    Signal known_;  ///< the pidfds are there, or never will be
    std::function<void(Worker&, ProcessEnd)> on_end_;
    TaskGroup tasks_;
};

}  // namespace muster::workers
