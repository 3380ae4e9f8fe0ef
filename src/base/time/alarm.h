#pragma once

#include <functional>

#include "base/async/signal.h"
#include "base/time/clock.h"

namespace muster {

/// Calls somebody at a time that may be set anew at any moment. To set it costs nothing where it
/// is not earlier than the one before: whoever has a deadline that mostly moves away need not race
/// each of its waits against a timer.
///
/// The owner runs run() in a task for as long as it is to ring. Thread: one loop.
class Alarm {
  public:
    Alarm(const asio::any_io_executor& executor, Clock& clock, std::function<void()> due)
        : clock_(clock), due_(std::move(due)), earlier_(executor) {}

    /// Instant::max(): never.
    void set(Instant at) {
        at_ = at;
        if (at < planned_) earlier_.notify_all();
    }

    /// Rings once for each time that was set and has come.
    Task<void> run();

  private:
    Clock& clock_;
    std::function<void()> due_;
    Signal earlier_;
    Instant at_ = Instant::max();
    Instant planned_ = Instant::max();  ///< when run() looks next
};

}  // namespace muster
