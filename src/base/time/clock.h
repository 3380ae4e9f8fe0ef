#pragma once

#include <chrono>

#include "base/async/async.h"

namespace muster {

using Duration = std::chrono::nanoseconds;

/// Time that only moves forward; its origin has no meaning.
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
/// passes when nothing else can happen, and tests never really wait.
///
/// Thread: the loop that it was made for.
class Clock {
  public:
    virtual ~Clock() = default;

    virtual Instant now() const = 0;
    virtual WallTime wall_now() const = 0;

    /// Returns at `deadline` or later; immediately if it has passed. Throws
    /// boost::system::system_error(operation_aborted) if the waiting coroutine is cancelled, as
    /// every Asio operation does.
    virtual Task<void> sleep_until(Instant deadline) = 0;

    /// Returns once wall_now() >= `deadline`; immediately if it is. Follows changes of the calendar
    /// clock: if it is set forward past the deadline, the wait ends right away; if it is set back,
    /// the wait lasts longer. Cancelled as sleep_until() is.
    ///
    /// Each real sleeper holds a descriptor: a caller with many such deadlines should wait for the
    /// earliest only.
    virtual Task<void> sleep_until_wall(WallTime deadline) = 0;

    Task<void> sleep_for(Duration duration) { return sleep_until(now() + duration); }
};

}  // namespace muster
