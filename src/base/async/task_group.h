#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/async/async.h"
#include "base/async/signal.h"

namespace muster {

/// Owns background coroutines: every spawned task runs in a group, and a group is stopped before
/// what its tasks refer to is destroyed. There is no detached work.
///
/// Stop order: refuse new tasks, cancel the running ones, wait until none is left. A task ends
/// quietly by returning or by operation_aborted; any other exception is a bug and aborts with the
/// task's name.
///
/// Thread: the loop of its executor.
class TaskGroup {
  public:
    explicit TaskGroup(asio::any_io_executor executor);
    ~TaskGroup();  // CHECKs that no task is left

    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// Starts a task soon (never inside this call). After stop() it is dropped unstarted.
    void spawn(std::string name, Task<void> task);

    /// Cancels every task without waiting.
    void cancel();
    /// Cancels all tasks and returns when none is left. Not to be called from a task of this group.
    Task<void> stop();
    /// Waits until no task is left, without cancelling any.
    Task<void> join();

    std::size_t size() const { return tasks_.size(); }
    bool stopping() const { return stopping_; }
    const asio::any_io_executor& executor() const { return executor_; }

  private:
    struct Running;

    asio::any_io_executor executor_;
    std::list<std::unique_ptr<Running>> tasks_;
    Signal ended_;
    bool stopping_ = false;
};

}  // namespace muster
