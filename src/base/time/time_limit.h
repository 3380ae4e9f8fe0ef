#pragma once

#include <optional>
#include <utility>

#include "base/async/first_of.h"
#include "base/time/clock.h"

namespace muster {

namespace internal {

template <class T>
Task<void> keep_result(Task<T> task, std::optional<T>& result) {
    result.emplace(co_await std::move(task));
}

}  // namespace internal

/// The result of `task`, or nullopt if it has not ended after `time`: then it was cancelled, and has
/// ended. What the task throws is thrown, including a cancellation of the caller.
template <class T>
Task<std::optional<T>> within(Clock& clock, Duration time, Task<T> task) {
    std::optional<T> result;
    const std::size_t first = co_await index_of_first(
        internal::keep_result(std::move(task), result), clock.sleep_for(time));
    if (first != 0) result.reset();
    co_return result;
}

}  // namespace muster
