#pragma once

#include "base/time/clock.h"

namespace muster::rpc {

struct LivenessLimits {
    /// Of silence of the other side, then the connection counts as broken. More than ping_after.
    Duration dead_after = std::chrono::seconds(5);
    /// Of silence of either side, then the client says that it is there, and is answered. What is
    /// cut off for less than the rest of dead_after breaks no connection.
    Duration ping_after = dead_after / 3;
};

/// When one side of a connection says that it is there, and when it gives the other one up. A side
/// that itself did not run (a stopped process, a machine asleep) has heard nothing either: after
/// that the other one has its whole time anew, or a master that was stopped for a while would take
/// all its agents for dead at once.
///
/// Pure: whoever owns it calls next() soon after `until` at the latest.
class Liveness {
  public:
    enum class Act { kWait, kPing, kDead };
    struct Step {
        Act act;
        Instant until;  ///< of kWait
    };

    /// `pings`: the client's side.
    Liveness(LivenessLimits limits, bool pings, Instant now)
        : limits_(limits), pings_(pings), heard_(now), said_(now), pinged_(now) {}

    void heard(Instant now) { heard_ = now; }
    void said(Instant now) { said_ = now; }
    /// kPing: as said then. kDead: nothing was heard for `dead_after`. `planned`: when this call
    /// was to be made; far behind it, this side did not run.
    Step next(Instant now, Instant planned);
    /// How long nothing was heard, pauses of this side left out.
    Duration silence(Instant now) const { return now - heard_; }

  private:
    LivenessLimits limits_;
    bool pings_;
    Instant heard_;
    Instant said_;
    Instant pinged_;
};

}  // namespace muster::rpc
