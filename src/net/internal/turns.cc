#include "net/internal/turns.h"

namespace muster::net {

Turns::Turn::Turn(Turns& turns, const asio::any_io_executor& executor)
    : turns_(turns), place_(turns.waiting_.insert(turns.waiting_.end(), this)), changed_(executor) {
    turns_.admit();
}

Turns::Turn::~Turn() {
    if (state_ == State::kWaits) turns_.waiting_.erase(place_);
    if (state_ == State::kIsHeld) turns_.holding_.erase(place_);
    turns_.admit();
}

Task<void> Turns::Turn::come() {
    while (state_ == State::kWaits) co_await changed_.wait();
}

void Turns::admit() {
    const Instant now = clock_.now();
    while (!waiting_.empty()) {
        if (holding_.size() >= most_) {
            Turn& oldest = *holding_.front();
            if (now - oldest.since_ < longest_) return;
            oldest.state_ = Turn::State::kIsOver;
            holding_.pop_front();
        }
        Turn& next = *waiting_.front();
        holding_.splice(holding_.end(), waiting_, next.place_);
        next.state_ = Turn::State::kIsHeld;
        next.since_ = now;
        next.changed_.notify_all();
    }
}

}  // namespace muster::net
