#pragma once

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/system/system_error.hpp>
#include <optional>
#include <utility>

#include "base/async/async.h"
#include "base/async/cancellation.h"

namespace muster {

/// Ends one task from elsewhere, whenever it is asked to, even before the task began. Costs less
/// than a race of two coroutines (first_of(), within()), since nothing waits beside the task.
///
/// Outlives the task that it runs. Thread: one loop.
class Stop {
  public:
    Stop() = default;
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;

    void ask() {
        asked_ = true;
        signal_.emit(asio::cancellation_type::terminal);
    }
    bool asked() const { return asked_; }

    /// The result of `task`, or nothing if it was asked to end and did so. A cancellation of the
    /// caller reaches the task and is thrown as usual. To be called once.
    template <class T>
    Task<std::optional<T>> run(Task<T> task) {
        if (asked_) co_return std::nullopt;
        const auto executor = co_await asio::this_coro::executor;
        const asio::cancellation_state callers = co_await asio::this_coro::cancellation_state;
        // Nothing else of the caller waits meanwhile, so its slot is free.
        asio::cancellation_slot from_caller = callers.slot();
        if (from_caller.is_connected())
            from_caller.assign([this](asio::cancellation_type type) { signal_.emit(type); });
        struct Leave {
            asio::cancellation_slot slot;
            ~Leave() {
                if (slot.is_connected()) slot.clear();
            }
        } const leave{from_caller};
        try {
            co_return co_await asio::co_spawn(
                executor, std::move(task),
                asio::bind_cancellation_slot(signal_.slot(), asio::use_awaitable));
        } catch (const boost::system::system_error& error) {
            const bool is_end = asked_ && is_cancellation(error.code()) &&
                                callers.cancelled() == asio::cancellation_type::none;
            if (!is_end) throw;
        }
        co_return std::nullopt;
    }

  private:
    asio::cancellation_signal signal_;
    bool asked_ = false;
};

}  // namespace muster
