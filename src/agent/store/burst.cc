#include "agent/store/burst.h"

#include <boost/asio/post.hpp>
#include <thread>

namespace muster::agent {
namespace {

/// Requests so close to each other are of a burst: a client that is answered by a sleeper asks
/// again within this time.
constexpr Duration kClose = std::chrono::microseconds(200);
/// A turn takes about a microsecond, and a client asks again within some 40 of them.
constexpr int kTurns = 64;

}  // namespace

Burst::Burst(const asio::any_io_executor& executor, Clock& clock)
    : clock_(clock), last_(clock.now() - kClose), begun_(executor) {}

void Burst::stir() {
    const Instant now = clock_.now();
    const bool close = now - last_ < kClose;
    last_ = now;
    if (!close) return;
    if (turns_ == 0) begun_.notify_all();
    turns_ = kTurns;
}

Task<void> Burst::stay_awake() {
    const auto executor = co_await asio::this_coro::executor;
    for (;;) {
        while (turns_ == 0) co_await begun_.wait();
        --turns_;
        std::this_thread::yield();
        co_await asio::post(executor, asio::use_awaitable);
    }
}

}  // namespace muster::agent
