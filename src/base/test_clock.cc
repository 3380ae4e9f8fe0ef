#include "base/test_clock.h"

#include "base/async/first_of.h"

namespace muster {

Task<void> LeapingClock::sleep_until(Instant deadline) {
    do {
        co_await first_of(real_.sleep_until(deadline - ahead_), leapt_.wait());
    } while (now() < deadline);
}

Task<void> LeapingClock::sleep_until_wall(WallTime deadline) {
    do {
        co_await first_of(real_.sleep_until_wall(deadline - wall_ahead_), leapt_.wait());
    } while (wall_now() < deadline);
}

void LeapingClock::leap(Duration time) {
    ahead_ += time;
    wall_ahead_ += time;
    leapt_.notify_all();
}

void LeapingClock::suspend(Duration time) {
    wall_ahead_ += time;
    leapt_.notify_all();
}

}  // namespace muster
