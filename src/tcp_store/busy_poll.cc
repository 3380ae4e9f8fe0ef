#include "tcp_store/busy_poll.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace muster::tcp_store {
namespace {

/// Requests closer together than this belong to a busy client: one that is answered by a sleeping
/// loop asks again within this time.
constexpr Duration kClose = std::chrono::microseconds(200);
/// A turn takes about a microsecond, and a client asks again within about 40 of them.
constexpr int kTurns = 64;
/// Yielding takes longer than this if other threads compute, rather than ask or answer.
constexpr Duration kBusy = std::chrono::microseconds(60);
constexpr Duration kSleep = std::chrono::milliseconds(20);

}  // namespace

BusyPoll::BusyPoll(const asio::any_io_executor& executor, Clock& clock,
                   std::function<void()> give_way)
    : clock_(clock),
      give_way_(std::move(give_way)),
      last_(clock.now() - kClose),
      sleep_until_(clock.now()),
      begun_(executor) {}

void BusyPoll::note_activity() {
    const Instant now = clock_.now();
    const bool close = now - last_ < kClose;
    last_ = now;
    if (!close || now < sleep_until_) return;
    if (turns_ == 0) begun_.notify_all();
    turns_ = kTurns;
}

Task<void> BusyPoll::stay_awake() {
    const auto executor = co_await asio::this_coro::executor;
    for (;;) {
        while (turns_ == 0) co_await begun_.wait();
        --turns_;
        const Instant before = clock_.now();
        give_way_();
        const Instant after = clock_.now();
        if (after - before > kBusy) {
            turns_ = 0;
            sleep_until_ = after + kSleep;
        }
        co_await asio::post(executor, asio::use_awaitable);
    }
}

}  // namespace muster::tcp_store
