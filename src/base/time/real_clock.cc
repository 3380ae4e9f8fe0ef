#include "base/time/real_clock.h"

#include <sys/timerfd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace muster {

Instant RealClock::now() const {
    return Instant(
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

WallTime RealClock::wall_now() const {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

Task<void> RealClock::sleep_until(Instant deadline) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_at(std::chrono::steady_clock::time_point(deadline.time_since_epoch()));
    co_await timer.async_wait(asio::use_awaitable);
}

Task<void> RealClock::sleep_until_wall(WallTime deadline) {
    auto executor = co_await asio::this_coro::executor;
    if (deadline <= wall_now()) {
        co_await asio::post(executor, asio::use_awaitable);
        co_return;
    }
    const int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0) {
        while (wall_now() < deadline)
            co_await sleep_for(std::min<Duration>(deadline - wall_now(), std::chrono::seconds(1)));
        co_return;
    }
    asio::posix::stream_descriptor timer(executor, fd);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(deadline);
    // The deadline lies after now and thus after 1970: never zero, which would disarm the timer.
    const itimerspec until{.it_interval = {},
                           .it_value = {.tv_sec = seconds.time_since_epoch().count(),
                                        .tv_nsec = (deadline - seconds).count()}};
    // The kernel adjusts an absolute timer when the clock is set, in both directions. A second wait
    // is needed only if the clock was set back between the timer's end and here.
    while (wall_now() < deadline) {
        timerfd_settime(fd, TFD_TIMER_ABSTIME, &until, nullptr);
        co_await timer.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    }
}

}  // namespace muster
