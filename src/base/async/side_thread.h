#pragma once

#include <boost/asio/co_spawn.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/async/async.h"

namespace muster {

/// A thread beside the loop, for pure computations that would hold it: one at a time, in the order
/// in which they were begun. Owns the thread, which exists from the first of them on. To be
/// destroyed when no one waits for a computation any more; the destructor waits for the one that
/// runs. Thread: the loop.
class SideThread {
  public:
    SideThread();
    ~SideThread();
    SideThread(const SideThread&) = delete;
    SideThread& operator=(const SideThread&) = delete;

    /// What `compute` returns or throws. It must own, or keep alive, all that it reads, and touch
    /// nothing that the loop may change meanwhile. It runs to its end even if the caller is
    /// cancelled, who waits for it.
    template <class Compute>
    Task<std::invoke_result_t<Compute&>> run(Compute compute) {
        auto value = std::make_shared<std::optional<std::invoke_result_t<Compute&>>>();
        co_await asio::co_spawn(executor(), compute_into(value, std::move(compute)),
                                asio::use_awaitable);
        co_return *std::move(*value);
    }

  private:
    struct Impl;

    template <class Value, class Compute>
    static Task<void> compute_into(std::shared_ptr<std::optional<Value>> value, Compute compute) {
        value->emplace(compute());
        co_return;
    }

    asio::any_io_executor executor();

    std::unique_ptr<Impl> impl_;
};

/// What a SideThread is for begins at about this many bytes of JSON.
inline constexpr std::size_t kWorthSideThread = std::size_t{64} * 1024;

/// On `thread` if there is one and `bytes` of input are worth it; otherwise immediately.
template <class Compute>
Task<std::invoke_result_t<Compute&>> compute_beside(SideThread* thread, std::size_t bytes,
                                                    Compute compute) {
    if (thread == nullptr || bytes < kWorthSideThread) co_return compute();
    co_return co_await thread->run(std::move(compute));
}

}  // namespace muster
