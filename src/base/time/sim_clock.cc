#include "base/time/sim_clock.h"

#include <algorithm>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "base/check.h"

namespace muster {

template <class Time>
Task<void> SimClock::enter(Sleepers<Time>& sleepers, Time deadline,
                           asio::any_io_executor executor) {
    const std::pair key{deadline, next_sequence_++};
    return asio::async_initiate<const asio::use_awaitable_t<>, void(boost::system::error_code)>(
        [&sleepers, key, executor](auto handler) {
            auto slot = asio::get_associated_cancellation_slot(handler);
            sleepers.emplace(key, Sleeper{std::move(handler), executor});
            if (slot.is_connected()) {
                slot.assign([&sleepers, key](asio::cancellation_type) {
                    if (auto it = sleepers.find(key); it != sleepers.end())
                        complete<Time>(sleepers, it, asio::error::operation_aborted);
                });
            }
        },
        asio::use_awaitable);
}

Task<void> SimClock::sleep_until(Instant deadline) {
    auto executor = co_await asio::this_coro::executor;
    if (deadline <= now_) {
        // Even a wait that is over yields once: a loop over it must not starve the others.
        co_await asio::post(executor, asio::use_awaitable);
        co_return;
    }
    co_await enter(sleepers_, deadline, executor);
}

Task<void> SimClock::sleep_until_wall(WallTime deadline) {
    auto executor = co_await asio::this_coro::executor;
    if (deadline <= wall_now()) {
        co_await asio::post(executor, asio::use_awaitable);
        co_return;
    }
    // Wait again if the calendar was stepped back after the wake-up was posted.
    while (wall_now() < deadline) co_await enter(wall_sleepers_, deadline, executor);
}

Instant SimClock::next_wall_deadline() const {
    const WallTime deadline =
        wall_sleepers_.empty() ? WallTime::max() : wall_sleepers_.begin()->first.first;
    if (deadline == WallTime::max()) return Instant::max();
    const Duration left = deadline - wall_now();
    return left < Instant::max() - now_ ? now_ + left : Instant::max();
}

Instant SimClock::next_deadline() const {
    const Instant next = sleepers_.empty() ? Instant::max() : sleepers_.begin()->first.first;
    return std::min(next, next_wall_deadline());
}

bool SimClock::advance_to_next() {
    const Instant next = next_deadline();
    if (next == Instant::max()) return false;
    CHECK(next >= now_, "a sleeper was left behind");
    bool wall = next_wall_deadline() == next;
    if (wall && !sleepers_.empty() && sleepers_.begin()->first.first == next)
        wall = wall_sleepers_.begin()->first.second < sleepers_.begin()->first.second;
    now_ = next;
    if (wall) {
        complete<WallTime>(wall_sleepers_, wall_sleepers_.begin(), {});
    } else {
        complete<Instant>(sleepers_, sleepers_.begin(), {});
    }
    return true;
}

void SimClock::advance_to(Instant time) {
    while (next_deadline() <= time && advance_to_next()) {
    }
    now_ = std::max(now_, time);
}

void SimClock::skew_wall(Duration step) {
    wall_skew_ += step;
    while (!wall_sleepers_.empty() && wall_sleepers_.begin()->first.first <= wall_now())
        complete<WallTime>(wall_sleepers_, wall_sleepers_.begin(), {});
}

template <class Time>
void SimClock::complete(Sleepers<Time>& sleepers, typename Sleepers<Time>::iterator sleeper,
                        boost::system::error_code error) {
    Sleeper woken = std::move(sleeper->second);
    sleepers.erase(sleeper);
    asio::post(woken.executor, [handler = std::move(woken.handler), error]() mutable {
        std::move(handler)(error);
    });
}

void run_simulation(asio::io_context& context, SimClock& clock, Instant until) {
    for (;;) {
        context.restart();
        context.poll();
        if (clock.next_deadline() > until || !clock.advance_to_next()) break;
    }
    if (until != Instant::max()) clock.advance_to(until);
}

}  // namespace muster
