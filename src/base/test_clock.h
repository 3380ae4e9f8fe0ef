#pragma once

#include "base/async/signal.h"
#include "base/time/clock.h"
#include "base/time/real_clock.h"

namespace muster {

/// Real time that a test can move on, so that it need not wait where it has to have waited. Thread:
/// one loop.
class LeapingClock final : public Clock {
  public:
    explicit LeapingClock(const asio::any_io_executor& executor) : leapt_(executor) {}

    Instant now() const override { return real_.now() + ahead_; }
    WallTime wall_now() const override { return real_.wall_now() + wall_ahead_; }
    Task<void> sleep_until(Instant deadline) override;
    Task<void> sleep_until_wall(WallTime deadline) override;

    /// Moves both clocks on. Those who are due by then wake as soon as the loop runs, in any order.
    void leap(Duration time);
    /// Moves the calendar on, as if the machine had been suspended.
    void suspend(Duration time);

  private:
    RealClock real_;
    Duration ahead_{};       ///< of real time
    Duration wall_ahead_{};  ///< the same for the calendar
    Signal leapt_;
};

}  // namespace muster
