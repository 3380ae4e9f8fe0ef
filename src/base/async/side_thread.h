#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <exception>
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
    /// nothing that the loop may change meanwhile. It runs to its end, and what it owns is freed on
    /// the thread, even if the caller is cancelled, who waits for it.
    template <class Compute>
    Task<std::invoke_result_t<Compute&>> run(Compute compute) {
        auto work = std::make_shared<Work<Compute>>();
        work->compute.emplace(std::move(compute));
        // No co_spawn(): it would hand a cancellation to the thread, which may come to it when the
        // caller is gone, and give the result only after the next computation.
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this, work](auto handler) {
                auto loop = asio::make_work_guard(handler);
                asio::post(executor(), [work, loop, handler = std::move(handler)]() mutable {
                    work->carry_out();
                    asio::post(loop.get_executor(), std::move(handler));
                });
            },
            asio::use_awaitable);
        if (work->thrown) std::rethrow_exception(work->thrown);
        co_return *std::move(work->value);
    }

  private:
    struct Impl;

    template <class Compute>
    struct Work {
        std::optional<Compute> compute;
        std::optional<std::invoke_result_t<Compute&>> value;
        std::exception_ptr thrown;

        void carry_out() {
            try {
                value.emplace((*compute)());
            } catch (...) {
                thrown = std::current_exception();
            }
            compute.reset();
        }
    };

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
