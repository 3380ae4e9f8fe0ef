#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <set>
#include <string>
#include <utility>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"

namespace muster::kube {

/// A queue of keys that need work. A key is queued at most once, never handed to two workers at the
/// same time, and handed out again if it was added while being worked on. Delays and back-off are
/// per key: one failing key does not slow the others (client-go's workqueue without its shared
/// bucket).
///
/// The group runs the timers of delayed keys; the queue outlives it. Thread: one loop.
class WorkQueue {
  public:
    struct Backoff {
        Duration first = std::chrono::milliseconds(5);
        Duration max = std::chrono::seconds(60);
    };

    WorkQueue(Clock& clock, TaskGroup& tasks, Backoff backoff);
    WorkQueue(Clock& clock, TaskGroup& tasks) : WorkQueue(clock, tasks, Backoff{}) {}

    void add(const std::string& key);
    /// Like add(), but the key is handed out before those of add(); of every nine keys, one is of
    /// the others if there are any. A key that is queued or worked on stays where it is.
    void add_first(const std::string& key);
    /// Adds the key at `when`, even if it is queued or worked on now: that work can't see what will
    /// be true then. If several times are given, the earliest counts and the others are forgotten:
    /// the work at that time sets the later ones again.
    void add_at(const std::string& key, Instant when);
    void add_after(const std::string& key, Duration delay) { add_at(key, clock_.now() + delay); }
    /// Adds the key after its back-off, which doubles with each call until forget(). It counts as a
    /// time of add_at().
    void add_failed(const std::string& key);
    void forget(const std::string& key) { failures_.erase(key); }
    /// Adds every key that has a back-off and forgets the back-off: the reason why they failed has
    /// changed for all.
    void retry_failed();

    /// The next key, of each kind in the order of adding; waits while there is none. The caller
    /// must call done(). Throws operation_aborted when cancelled. Yields at least once, so that a
    /// worker that always finds keys does not starve the loop.
    Task<std::string> next();
    void done(const std::string& key);

    std::size_t ready() const { return first_.size() + ready_.size(); }
    std::size_t delayed() const { return due_.size(); }

  private:
    struct State {
        bool queued = false;  ///< in first_ or ready_, or to be queued by done()
        bool working = false;
    };

    void add_to(std::deque<std::string>& keys, const std::string& key);
    std::string take();
    Task<void> run_timer(Instant deadline);
    void add_due();
    void arm();

    Clock& clock_;
    TaskGroup& tasks_;
    Backoff backoff_;
    std::deque<std::string> first_;
    std::deque<std::string> ready_;
    int taken_first_ = 0;  ///< keys taken from first_ since the last one from ready_
    // Flat: with tens of thousands of keys each node of another table would be a cache miss.
    boost::unordered_flat_map<std::string, State> states_;  ///< of keys queued or worked on
    boost::unordered_flat_map<std::string, int> failures_;
    boost::unordered_flat_map<std::string, Instant> due_;
    std::set<std::pair<Instant, std::string>> timers_;  ///< due_, by time
    Signal work_;
    std::set<Instant> armed_;  ///< the deadlines that a timer task sleeps for
};

}  // namespace muster::kube
