#pragma once

#include "base/clock.h"

namespace muster {

/// CLOCK_MONOTONIC and CLOCK_REALTIME, with Asio timers on the awaiting coroutine's executor.
class RealClock final : public Clock {
  public:
    Instant now() const override;
    WallTime wall_now() const override;
    Task<void> sleep_until(Instant deadline) override;
};

}  // namespace muster
