#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>

#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "cli/internal/record/run_choice.h"

namespace muster::cli {

/// Tells when a run's folder changes, and when its process is gone. Thread: the loop of the group.
class RunWatch {
  public:
    /// One that is not alive counts as ended.
    static Result<std::unique_ptr<RunWatch>> create(TaskGroup& tasks, const FoundRun& run);

    /// Starts two tasks of the group, which end with it.
    void start();
    /// Notified when a file of the folder was written or replaced, and at the end.
    Signal& changed() { return changed_; }
    bool ended() const { return ended_; }
    Task<void> wait_end();
    /// SIGTERM to its process; nothing if that is gone.
    Result<void> terminate();

  private:
    RunWatch(TaskGroup& tasks, int inotify, int process);
    Task<void> watch_folder();
    Task<void> watch_process();

    TaskGroup& tasks_;
    Signal changed_;
    asio::posix::stream_descriptor inotify_;
    asio::posix::stream_descriptor process_;  ///< a pidfd; closed if it had ended before
    bool ended_ = false;
};

}  // namespace muster::cli
