#pragma once

#include <exception>

#include "base/task_group.h"

namespace muster {

/// Runs `task`, and then cancels and awaits what `group` still has: also when the task throws or
/// the caller is cancelled. So a group may live in a coroutine beside what its tasks refer to.
inline Task<void> then_stop(Task<void> task, TaskGroup& group) {
    std::exception_ptr thrown;
    try {
        co_await std::move(task);
    } catch (...) {
        thrown = std::current_exception();
    }
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await group.stop();
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace muster
