#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <exception>
#include <optional>
#include <variant>

#include "base/time/clock.h"

namespace muster {

/// What `task` returns, or nullopt when it has not ended after `time`: then it was cancelled and
/// has ended. A cancellation of the caller reaches the task and is thrown as any other: Asio's `||`
/// alone would throw multiple_exceptions, which no TaskGroup takes for the end of a task.
template <class T>
Task<std::optional<T>> within(Clock& clock, Duration time, Task<T> task) {
    using namespace asio::experimental::awaitable_operators;
    try {
        auto first = co_await (std::move(task) || clock.sleep_for(time));
        if (first.index() == 0) co_return std::get<0>(std::move(first));
        co_return std::nullopt;
    } catch (const asio::multiple_exceptions& both) {
        // Task and sleep were cancelled; the task's exception is the one that counts.
        std::rethrow_exception(both.first_exception());
    }
}

}  // namespace muster
