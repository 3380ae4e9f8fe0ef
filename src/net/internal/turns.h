#pragma once

#include <cstddef>
#include <list>

#include "base/async/signal.h"
#include "base/time/clock.h"

namespace muster::net {

/// Lets so many do something at once; who comes later waits, in order. When thousands come together
/// some are done at any moment, instead of all of them at the end, when each may be too late.
///
/// A turn ends with its holder. One that lasts for `longest` is nobody's any more when somebody
/// waits: its holder goes on all the same, so who stalls on purpose keeps others waiting for no
/// longer than that, from when the next one comes or goes.
///
/// Thread: one loop.
class Turns {
  public:
    /// The wish for a turn, and then the turn.
    class Turn {
      public:
        Turn(Turns& turns, const asio::any_io_executor& executor);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

        /// Returns when it has come.
        Task<void> come();

      private:
        friend class Turns;
        enum class State { kWaits, kIsHeld, kIsOver };

        Turns& turns_;
        State state_ = State::kWaits;
        std::list<Turn*>::iterator place_;  ///< of who waits or holds it
        Instant since_;                     ///< it is held
        Signal changed_;
    };

    Turns(const Clock& clock, std::size_t most, Duration longest)
        : clock_(clock), most_(most), longest_(longest) {}

  private:
    void admit();

    const Clock& clock_;
    std::size_t most_;
    Duration longest_;
    std::list<Turn*> waiting_;
    std::list<Turn*> holding_;  ///< the oldest first
};

}  // namespace muster::net
