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
/// quietly by returning or by operation_aborted. Any other exception is an internal fault: it is
/// logged with an id and ends only this task, or the process if it can't work without the task.
///
/// Thread: the loop of its executor.
class TaskGroup {
  public:
    explicit TaskGroup(asio::any_io_executor executor);
    ~TaskGroup();  // CHECKs that no task is left

    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// Called after a task threw and has ended. `what` is a message that may be shown to clients.
    /// Tells whatever waits for the task that its work was not done.
    using Failed = std::function<void(const std::string& what)>;

    /// Starts a task soon (never inside this call). After stop() it is dropped unstarted. For tasks
    /// that serve a client, a pod, a connection or a call, and fail alone.
    void spawn(std::string name, Task<void> task, Failed failed = nullptr);
    /// The same for a task without which a command of one user is useless, such as the one that
    /// reads its signals: if it throws, the process ends. Nothing that serves others uses it.
    void spawn_essential(std::string name, Task<void> task);

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

    void start(std::unique_ptr<Running> running, Task<void> task);

    asio::any_io_executor executor_;
    std::list<std::unique_ptr<Running>> tasks_;
    Signal ended_;
    bool stopping_ = false;
};

}  // namespace muster
