#include "apiserver/watching/fan_out.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "apiserver/watching/watcher.h"
#include "base/time/loop_watch.h"
#include "base/time/restarting_task.h"
#include "base/unexpected.h"

namespace muster::apiserver {

void FanOut::add(Watcher& watcher) {
    if (!running_) {
        running_ = true;
        left_at_once_ = kTurn;
        spawn_restarting(tasks_, clock_, "fan-out of changes", [this] { return run(); });
    }
    if (left_at_once_ == 0) return waiting_.push_back(&watcher);
    --left_at_once_;
    wake(watcher);
}

void FanOut::wake(Watcher& watcher) {
    // No one else would wake it for the events that it has.
    if (const auto fault = contained("a watch", [&] { watcher.take_turn(); }))
        watcher.expire(*fault);
}

void FanOut::remove(Watcher& watcher) { std::erase(waiting_, &watcher); }

Task<void> FanOut::run() {
    Instant begun = clock_.now();
    // Those that were woken at once are part of the first round.
    co_await asio::post(tasks_.executor(), asio::use_awaitable);
    left_at_once_ = 0;
    for (;;) {
        // A watcher that is added meanwhile has had its turn, and comes in the next round.
        std::size_t left = waiting_.size();
        while (left > 0 && !waiting_.empty()) {
            works_for("fan-out of changes");
            for (std::size_t turn = std::min({kTurn, left, waiting_.size()}); turn > 0; --turn) {
                Watcher& next = *waiting_.front();
                waiting_.pop_front();
                --left;
                wake(next);
            }
            // After those that were woken, and after a look at the sockets.
            co_await asio::post(tasks_.executor(), asio::use_awaitable);
        }
        const Duration cooldown = cooldown_after(clock_.now() - begun);
        if (cooldown > Duration::zero()) co_await clock_.sleep_for(cooldown);
        if (waiting_.empty()) break;
        begun = clock_.now();
    }
    running_ = false;
}

Duration cooldown_after(Duration round) {
    constexpr Duration kShortest = std::chrono::milliseconds(1);
    constexpr Duration kLongest = std::chrono::milliseconds(4);
    return round < kShortest ? Duration::zero() : std::min(round, kLongest);
}

}  // namespace muster::apiserver
