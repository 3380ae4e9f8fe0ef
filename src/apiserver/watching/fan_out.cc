#include "apiserver/watching/fan_out.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "apiserver/watching/watcher.h"
#include "base/time/loop_watch.h"

namespace muster::apiserver {

void FanOut::add(Watcher& watcher) {
    waiting_.push_back(&watcher);
    if (running_) return;
    running_ = true;
    tasks_.spawn_essential("fan-out of changes", run());
}

void FanOut::remove(Watcher& watcher) { std::erase(waiting_, &watcher); }

Task<void> FanOut::run() {
    while (!waiting_.empty()) {
        const Instant begun = clock_.now();
        // A watcher that is added meanwhile has had its turn, and comes in the next round.
        std::size_t left = waiting_.size();
        while (left > 0 && !waiting_.empty()) {
            works_for("fan-out of changes");
            for (std::size_t turn = std::min({kTurn, left, waiting_.size()}); turn > 0; --turn) {
                Watcher& next = *waiting_.front();
                waiting_.pop_front();
                --left;
                next.take_turn();
            }
            // After those that were woken, and after a look at the sockets.
            co_await asio::post(tasks_.executor(), asio::use_awaitable);
        }
        const Duration cooldown = cooldown_after(clock_.now() - begun);
        if (cooldown > Duration::zero()) co_await clock_.sleep_for(cooldown);
    }
    running_ = false;
}

Duration cooldown_after(Duration round) {
    constexpr Duration kShortest = std::chrono::milliseconds(1);
    constexpr Duration kLongest = std::chrono::milliseconds(4);
    return round < kShortest ? Duration::zero() : std::min(round, kLongest);
}

}  // namespace muster::apiserver
