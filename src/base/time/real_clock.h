#pragma once

#include "base/time/clock.h"

namespace muster {

/// CLOCK_MONOTONIC with Asio timers, CLOCK_REALTIME with timerfds, on the executor of the awaiting
/// coroutine. If no descriptor is free, a wait for calendar time checks the clock every second.
class RealClock final : public Clock {
  public:
    Instant now() const override;
    WallTime wall_now() const override;
    Task<void> sleep_until(Instant deadline) override;
    Task<void> sleep_until_wall(WallTime deadline) override;
};

}  // namespace muster
