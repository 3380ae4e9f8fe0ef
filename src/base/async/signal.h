#pragma once

#include <boost/asio/steady_timer.hpp>

#include "base/async/async.h"

namespace muster {

/// Wakes coroutines that wait for a change. It carries no value: a coroutine that wakes looks at
/// the state again. A notification is lost if no coroutine waits, so check the state before
/// waiting:
///
///     while (queue.empty()) co_await changed.wait();
///
/// Thread: one loop. Destroying it cancels the coroutines that wait.
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
