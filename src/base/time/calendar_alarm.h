#pragma once

#include <functional>
#include <optional>

#include "base/async/signal.h"
#include "base/time/clock.h"

namespace muster {

/// An Alarm for a calendar time: a machine that was suspended is late for it by no more than it
/// takes to wake, and it follows changes of the calendar clock. While a time is set it holds a
/// descriptor.
///
/// The owner runs run() in a task for as long as the alarm may ring. Thread: one loop.
class CalendarAlarm {
  public:
    CalendarAlarm(const asio::any_io_executor& executor, Clock& clock, std::function<void()> due)
        : clock_(clock), due_(std::move(due)), changed_(executor) {}

    /// Nothing: never.
    void set(std::optional<WallTime> at) {
        if (at == at_) return;
        at_ = at;
        changed_.notify_all();
    }

    /// Rings once for each time that was set and has passed.
    Task<void> run();

  private:
    Clock& clock_;
    std::function<void()> due_;
    Signal changed_;
    std::optional<WallTime> at_;
};

}  // namespace muster
