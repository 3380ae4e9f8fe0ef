#include "rpc/liveness.h"

#include <algorithm>

namespace muster::rpc {

Liveness::Step Liveness::next(Instant now, Instant planned) {
    // Late by more than a ping means that this side did not run; what came meanwhile is not read
    // yet.
    if (now - planned > limits_.ping_after) heard_ = now;
    const Instant dead = heard_ + limits_.dead_after;
    if (now >= dead) return {Act::kDead, dead};
    Instant until = dead;
    if (pings_) {
        // What it says may need no answer, and then it would hear nothing for all that it says.
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
