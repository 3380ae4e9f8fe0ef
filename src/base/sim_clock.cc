#include "base/sim_clock.h"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "base/check.h"

namespace muster {

Task<void> SimClock::sleep_until(Instant deadline) {
    if (deadline <= now_) {
        // Even a wait that is over yields once: a loop over it must not starve the others.
        co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
        co_return;
    }
    const Key key{deadline, next_sequence_++};
    auto executor = co_await asio::this_coro::executor;
    co_await asio::async_initiate<const asio::use_awaitable_t<>, void(boost::system::error_code)>(
        [this, key, executor](auto handler) {
            auto slot = asio::get_associated_cancellation_slot(handler);
            sleepers_.emplace(key, Sleeper{std::move(handler), executor});
            if (slot.is_connected()) {
                slot.assign([this, key](asio::cancellation_type) {
                    if (auto it = sleepers_.find(key); it != sleepers_.end())
                        complete(it, asio::error::operation_aborted);
                });
            }
        },
        asio::use_awaitable);
}

Instant SimClock::next_deadline() const {
    return sleepers_.empty() ? Instant::max() : sleepers_.begin()->first.first;
}

bool SimClock::advance_to_next() {
    if (sleepers_.empty()) return false;
    auto it = sleepers_.begin();
    CHECK(it->first.first >= now_, "a sleeper was left behind");
    now_ = it->first.first;
    complete(it, {});
    return true;
}

void SimClock::advance_to(Instant time) {
    while (next_deadline() <= time) advance_to_next();
    now_ = std::max(now_, time);
}

void SimClock::complete(std::map<Key, Sleeper>::iterator sleeper, boost::system::error_code error) {
    Sleeper woken = std::move(sleeper->second);
    sleepers_.erase(sleeper);
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
