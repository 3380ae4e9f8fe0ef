#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "base/async/async.h"
#include "base/check.h"

namespace muster {

/// Runs a task on the loop, and the loop until nothing waits on it any more; what the task
/// returned. What it throws is thrown at once, whatever else waits.
template <class T>
T run_to_end(asio::io_context& loop, Task<T> task) {
    std::optional<T> returned;
    asio::co_spawn(loop, std::move(task), [&](std::exception_ptr thrown, T value) {
        if (thrown) std::rethrow_exception(thrown);
        returned.emplace(std::move(value));
    });
    loop.run();
    CHECK(returned.has_value(), "a loop ended before its task");
    return *std::move(returned);
}
inline void run_to_end(asio::io_context& loop, Task<void> task) {
    asio::co_spawn(loop, std::move(task), [](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
    });
    loop.run();
}

}  // namespace muster
