#pragma once

#include "base/time/clock.h"

namespace muster::rpc {

struct LivenessLimits {
    /// How long the other side may be silent before the connection counts as broken. More than
    /// ping_after.
    Duration dead_after = std::chrono::seconds(5);
    /// After this long without a message in either direction the client sends a ping, which is
    /// answered. An interruption shorter than the rest of dead_after breaks no connection.
    Duration ping_after = dead_after / 3;
};

/// Decides when one side of a connection pings, and when it gives up the other side. A side that
/// did not run itself (a stopped process, a sleeping machine) could not hear anything: afterwards
/// the other side gets its full time again. Otherwise a master that was stopped for a while would
/// take all its agents for dead.
///
/// Pure: the owner calls next() at `until`, or soon after.
class Liveness {
  public:
    enum class Act { kWait, kPing, kDead };
    struct Step {
        Act act;
        Instant until;  ///< for kWait
    };

    /// `pings`: true on the client's side.
    Liveness(LivenessLimits limits, bool pings, Instant now)
        : limits_(limits), pings_(pings), heard_(now), said_(now), pinged_(now) {}

    /// Other limits from now on.
    void keep_to(LivenessLimits limits) { limits_ = limits; }
    void heard(Instant now) { heard_ = now; }
    void said(Instant now) { said_ = now; }
    /// kPing: send a ping. kDead: nothing was heard for `dead_after`. `planned`: when this call was
    /// due; if it comes much later, this side did not run.
    Step next(Instant now, Instant planned);
    /// How long nothing was heard, not counting pauses of this side.
    Duration silence(Instant now) const { return now - heard_; }

  private:
    LivenessLimits limits_;
    bool pings_;
    Instant heard_;
    Instant said_;
    Instant pinged_;
};

}  // namespace muster::rpc
