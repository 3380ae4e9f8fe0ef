#pragma once

#include <chrono>

#include "base/async/async.h"

namespace muster {

using Duration = std::chrono::nanoseconds;

/// Time that only goes forward; its origin means nothing.
struct MonotonicClock {
    using rep = Duration::rep;
    using period = Duration::period;
    using duration = Duration;
    using time_point = std::chrono::time_point<MonotonicClock>;
    static constexpr bool is_steady = true;
};
using Instant = MonotonicClock::time_point;

/// Calendar time, UTC.
using WallTime = std::chrono::sys_time<Duration>;

/// The only source of time and of waiting. The clock owns the timers, so that under simulation time
/// passes when nothing else can happen, and tests never wait.
///
/// Thread: the loop that it was made for.
class Clock {
  public:
    virtual ~Clock() = default;

    virtual Instant now() const = 0;
    virtual WallTime wall_now() const = 0;

    /// Returns at `deadline` or later; at once if it has passed. Throws
    /// boost::system::system_error(operation_aborted) when the waiting coroutine is cancelled,
    /// as every Asio operation does.
    virtual Task<void> sleep_until(Instant deadline) = 0;

    /// Returns once wall_now() >= `deadline`; at once if it is. Follows a calendar clock that is
    /// set meanwhile: set forward over the deadline, it ends there and then; set back, it lasts
    /// longer. Cancelled as sleep_until() is.
    ///
    /// Each real sleeper holds a descriptor: who has many such deadlines waits for the earliest.
    virtual Task<void> sleep_until_wall(WallTime deadline) = 0;

    Task<void> sleep_for(Duration duration) { return sleep_until(now() + duration); }
};

}  // namespace muster
