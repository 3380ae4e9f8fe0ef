#pragma once

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <exception>

#include "base/async/cancellation.h"
#include "base/async/task_group.h"

namespace muster {

/// Runs `task`, then cancels and awaits what is left in `group` (a TaskGroup, or what has one and a
/// stop() like it), even if the task throws or the caller is cancelled before that or while it waits
/// here. So a group may live in a coroutine beside what its tasks refer to. Afterwards the caller
/// can be cancelled as before.
template <class Group>
Task<void> then_stop(Task<void> task, Group& group) {
    std::exception_ptr thrown;
    try {
        co_await std::move(task);
    } catch (...) {
        thrown = std::current_exception();
    }
    for (bool stopped = false; !stopped;) {
        // A cancelled coroutine can't wait for anything until it resets its cancellation state. It
        // may have been cancelled when there was nothing left to wait for, so that nothing was
        // thrown.
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none && !thrown)
            thrown = std::make_exception_ptr(
                boost::system::system_error(asio::error::operation_aborted));
        co_await asio::this_coro::reset_cancellation_state();
        try {
            co_await group.stop();
            stopped = true;
        } catch (const boost::system::system_error& error) {
            if (!is_cancellation(error.code())) throw;
        }
    }
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace muster
