#include "base/real_clock.h"

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

}  // namespace muster
