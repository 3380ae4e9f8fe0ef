#include "rpc/liveness.h"

#include <algorithm>

namespace muster::rpc {

Liveness::Step Liveness::next(Instant now, Instant planned) {
    // If the call is late by more than a ping interval, this side did not run; what arrived
    // meanwhile has not been read yet.
    if (now - planned > limits_.ping_after) heard_ = now;
    const Instant dead = heard_ + limits_.dead_after;
    if (now >= dead) return {Act::kDead, dead};
    Instant until = dead;
    if (pings_) {
        // The other side may have no reason to answer what we send, and without a ping we would
        // never hear from it.
        const Instant ping = std::min(said_, std::max(heard_, pinged_)) + limits_.ping_after;
        if (now >= ping) {
            said_ = pinged_ = now;
            return {Act::kPing, now};
        }
        until = std::min(until, ping);
    }
    return {Act::kWait, until};
}

}  // namespace muster::rpc
