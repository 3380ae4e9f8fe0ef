#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "base/async/async.h"
#include "base/async/run_loop.h"
#include "base/check.h"
#include "base/unexpected.h"

namespace muster {

/// Runs a program's main task on the loop, and the loop until nothing waits on it any more; returns
/// what the task returned. If the task throws, the process ends at once, whatever else waits. An
/// exception of a handler that belongs to no task is logged, as in run_loop().
template <class T>
T run_to_end(asio::io_context& loop, Task<T> task) {
    std::optional<T> returned;
    asio::co_spawn(loop, std::move(task), [&](std::exception_ptr thrown, T value) {
        if (thrown) end_process_for("the main task", thrown);
        returned.emplace(std::move(value));
    });
    run_loop(loop);
    CHECK(returned.has_value(), "a loop ended before its task");
    return *std::move(returned);
}
inline void run_to_end(asio::io_context& loop, Task<void> task) {
    asio::co_spawn(loop, std::move(task), [](std::exception_ptr thrown) {
        if (thrown) end_process_for("the main task", thrown);
    });
    run_loop(loop);
}

}  // namespace muster
