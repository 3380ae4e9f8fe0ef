#pragma once

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <exception>

#include "base/async/task_group.h"

namespace muster {

/// Runs `task`, and then cancels and awaits what `group` still has: also when the task throws or
/// the caller is cancelled, before that or while it waits here. So a group may live in a coroutine
/// beside what its tasks refer to. The caller can be cancelled afterwards as before.
inline Task<void> then_stop(Task<void> task, TaskGroup& group) {
    std::exception_ptr thrown;
    try {
        co_await std::move(task);
    } catch (...) {
        thrown = std::current_exception();
    }
    for (bool stopped = false; !stopped;) {
        // A cancelled coroutine can't wait for anything until it says that it knows. It may have
        // been cancelled when nothing was left to wait for, and then nobody has thrown it.
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none && !thrown)
            thrown = std::make_exception_ptr(
                boost::system::system_error(asio::error::operation_aborted));
        co_await asio::this_coro::reset_cancellation_state();
        try {
            co_await group.stop();
            stopped = true;
        } catch (const boost::system::system_error& error) {
            if (error.code() != asio::error::operation_aborted) throw;
        }
    }
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace muster
