#pragma once

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <exception>

#include "base/async/async.h"

namespace muster {

/// Runs both tasks until one of them ends, cancels the other, and returns when both have ended. A
/// cancellation of the caller reaches both and is thrown as any other (see within()).
inline Task<void> first_of(Task<void> one, Task<void> other) {
    using namespace asio::experimental::awaitable_operators;
    try {
        co_await (std::move(one) || std::move(other));
    } catch (const asio::multiple_exceptions& both) {
        std::rethrow_exception(both.first_exception());
    }
}

}  // namespace muster
