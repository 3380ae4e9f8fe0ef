#pragma once

#include <functional>

#include "base/async/signal.h"
#include "base/time/clock.h"

namespace muster {

/// Calls a function at a time that may be changed at any moment. Setting a time costs nothing if it
/// is not earlier than the previous one, so an owner whose deadline mostly moves away need not race
/// each of its waits against a timer.
///
/// The owner runs run() in a task for as long as the alarm may ring. Thread: one loop.
class Alarm {
  public:
    Alarm(const asio::any_io_executor& executor, Clock& clock, std::function<void()> due)
        : clock_(clock), due_(std::move(due)), earlier_(executor) {}

    /// Instant::max(): never.
    void set(Instant at) {
        at_ = at;
        if (at < planned_) earlier_.notify_all();
    }

    /// Rings once for each time that was set and has passed.
    Task<void> run();

  private:
    Clock& clock_;
    std::function<void()> due_;
    Signal earlier_;
    Instant at_ = Instant::max();
    Instant planned_ = Instant::max();  ///< when run() looks next
};

}  // namespace muster
