#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "kube/client/requeue_timers.h"
#include "kube/client/work_queue.h"

namespace muster::kube {

/// The loop of a controller: a queue of keys, workers that pass each key to the reconcile function,
/// and the times at which keys come back. It does not know what a key names, so each reconciled
/// resource can have one.
///
/// A key is reconciled by one worker at a time; events that arrive meanwhile lead to one further
/// turn. A failed key comes back after its own back-off. Thread: the loop of the group, which runs
/// the workers and the timers; the controller outlives it.
class Controller {
  public:
    /// False: something failed and has to be tried again.
    using Reconcile = std::function<Task<bool>(std::string key)>;
    using Done = std::function<void(const std::string& key, Duration took, bool complete)>;

    /// `done` is called after each turn; may be empty.
    Controller(Clock& clock, TaskGroup& tasks, Reconcile reconcile, Done done = {});

    /// Until then keys are only queued.
    void start(int workers);

    void add(const std::string& key) { queue_.add(key); }
    /// The key precedes those that were added with add().
    void add_first(const std::string& key) { queue_.add_first(key); }
    /// If several times are given, the earliest counts.
    void requeue_at(const std::string& key, Instant when) { queue_.add_at(key, when); }
    /// Sets the key's one deadline in calendar time; nullopt clears it.
    void set_deadline(const std::string& key, std::optional<WallTime> when) {
        timers_.set(key, when);
    }
    /// Failed keys are tried again now: the reason of their failures has changed for all.
    void retry_failed() { queue_.retry_failed(); }

    /// Number of keys that wait for a worker.
    std::size_t ready() const { return queue_.ready(); }

  private:
    Task<void> work();

    Clock& clock_;
    TaskGroup& tasks_;
    Reconcile reconcile_;
    Done done_;
    WorkQueue queue_;
    RequeueTimers timers_;
};

}  // namespace muster::kube
