#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/async/async.h"
#include "base/thread_time.h"

namespace muster {

/// A computation on a SideThread that has ended.
struct SideComputation {
    std::string_view name;
    std::string work;  ///< what the loop worked for when it was begun; may be empty
    std::chrono::nanoseconds waited{};  ///< for the computations before it
    ThreadTime took;
};

/// A thread beside the loop, for pure computations that would hold it: one at a time, in the order
/// in which they were begun. Owns the thread, which exists from the first of them on. To be
/// destroyed when no one waits for a computation any more; the destructor waits for the one that
/// runs. Thread: the loop.
class SideThread {
  public:
    /// Who is to know how long computations wait and take. Called on the loop.
    struct Watch {
        std::function<std::string()> current_work;
        std::function<void(const SideComputation&)> ended;
    };

    explicit SideThread(Watch watch = {});
    ~SideThread();
    SideThread(const SideThread&) = delete;
    SideThread& operator=(const SideThread&) = delete;

    /// What `compute` returns or throws. It must own, or keep alive, all that it reads, and touch
    /// nothing that the loop may change meanwhile. It runs to its end, and what it owns is freed on
    /// the thread, even if the caller is cancelled, who waits for it. `name`: what it does, a
    /// constant.
    template <class Compute>
    Task<std::invoke_result_t<Compute&>> run(const char* name, Compute compute) {
        auto work = std::make_shared<Work<Compute>>();
        work->compute.emplace(std::move(compute));
        work->times.name = name;
        if (watch_.current_work) work->times.work = watch_.current_work();
        const std::chrono::nanoseconds begun = thread_time().passed;
        // No co_spawn(): it would hand a cancellation to the thread, which may come to it when the
        // caller is gone, and give the result only after the next computation.
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this, work, begun](auto handler) {
                auto loop = asio::make_work_guard(handler);
                asio::post(executor(), [work, begun, loop, handler = std::move(handler)]() mutable {
                    work->carry_out(begun);
                    asio::post(loop.get_executor(), std::move(handler));
                });
            },
            asio::use_awaitable);
        if (watch_.ended) watch_.ended(work->times);
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
        SideComputation times;

        void carry_out(std::chrono::nanoseconds begun) {
            const ThreadTime start = thread_time();
            try {
                value.emplace((*compute)());
            } catch (...) {
                thrown = std::current_exception();
            }
            compute.reset();
            times.waited = start.passed - begun;
            times.took = thread_time() - start;
        }
    };

    asio::any_io_executor executor();

    Watch watch_;
    std::unique_ptr<Impl> impl_;
};

/// What a SideThread is for begins at about this many bytes of JSON.
inline constexpr std::size_t kWorthSideThread = std::size_t{64} * 1024;

/// On `thread` if there is one and `bytes` of input are worth it; otherwise immediately. `name`:
/// what it does, a constant.
template <class Compute>
Task<std::invoke_result_t<Compute&>> compute_beside(SideThread* thread, const char* name,
                                                    std::size_t bytes, Compute compute) {
    if (thread == nullptr || bytes < kWorthSideThread) co_return compute();
    co_return co_await thread->run(name, std::move(compute));
}

}  // namespace muster
