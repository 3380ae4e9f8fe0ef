#pragma once

#include <boost/asio/steady_timer.hpp>

#include "base/async/async.h"

namespace muster {

/// Wakes coroutines that wait for a change. Carries no value: whoever wakes looks at the state
/// again. A notify with nobody waiting is lost, so wait only after having looked:
///
///     while (queue.empty()) co_await changed.wait();
///
/// Thread: one loop. Destroying it while somebody waits cancels the waiters.
class Signal {
  public:
    explicit Signal(const asio::any_io_executor& executor) : timer_(executor) {
        timer_.expires_at(asio::steady_timer::time_point::max());
    }

    void notify_all() { timer_.cancel(); }

    /// Returns after the next notify_all(); throws operation_aborted when the waiter is cancelled.
    Task<void> wait();

  private:
    asio::steady_timer timer_;
};

}  // namespace muster
