#pragma once

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "base/time/time_limit.h"

namespace muster::master_process {

/// How long a request of a master to its API server may take.
inline constexpr Duration kRequestTime = std::chrono::seconds(10);

/// kUnavailable if there is no answer by then.
template <class T>
Task<Result<T>> in_time(Clock& clock, Task<Result<T>> request) {
    auto answer = co_await within(clock, kRequestTime, std::move(request));
    if (answer) co_return *std::move(answer);
    co_return Error(
        Code::kUnavailable,
        fmt::format("the API server has not answered for {} s",
                    std::chrono::duration_cast<std::chrono::seconds>(kRequestTime).count()));
}

}  // namespace muster::master_process
