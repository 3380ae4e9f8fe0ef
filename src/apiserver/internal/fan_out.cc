#include "apiserver/internal/fan_out.h"

#include <boost/asio/post.hpp>

#include "apiserver/internal/watcher.h"

namespace muster::apiserver {

void FanOut::add(Watcher& watcher) {
    waiting_.push_back(&watcher);
    if (running_) return;
    running_ = true;
    tasks_.spawn("fan-out of changes", run());
}

void FanOut::remove(Watcher& watcher) { std::erase(waiting_, &watcher); }

Task<void> FanOut::run() {
    while (!waiting_.empty()) {
        for (std::size_t woken = 0; woken < kTurn && !waiting_.empty(); ++woken) {
            Watcher& next = *waiting_.front();
            waiting_.pop_front();
            next.take_turn();
        }
        // Behind those that were woken, and behind a look at the sockets.
        co_await asio::post(tasks_.executor(), asio::use_awaitable);
    }
    running_ = false;
}

}  // namespace muster::apiserver
