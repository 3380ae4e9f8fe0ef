#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/local/progress_file.h"
#include "agent/local/set_record.h"
#include "agent/local/shim_process.h"
#include "base/async.h"
#include "base/clock.h"
#include "base/signal.h"

namespace muster::agent {

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

    /// Until nothing of it is left.
    Task<void> watch(Clock& clock);
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
    Task<void> listen();
    /// A shim that somebody stopped can't tell the end that the kernel tells.
    Task<void> wake_shim(Clock& clock);
    void take(ReceivedReport received);
    void end(ProcessEnd how);
    Task<void> lose_shim(Clock& clock);

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
    bool asked_to_end_ = false;
    ShimReport failure_;
    Signal& changed_;
    Signal known_;  ///< the pidfds are there, or never will be
    std::function<void(Worker&, ProcessEnd)> on_end_;
};

}  // namespace muster::agent
