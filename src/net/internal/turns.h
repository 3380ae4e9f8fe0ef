#pragma once

#include <cstddef>
#include <list>

#include "base/async/signal.h"
#include "base/time/clock.h"

namespace muster::net {

/// Limits how many coroutines do something at the same time; later ones wait, in order. When
/// thousands arrive together, some are finished at any moment, instead of all of them at the end,
/// when each may be too late.
///
/// A turn ends with its holder. A turn that has lasted for `longest` is passed on if someone waits;
/// its holder continues all the same. So a holder that stalls on purpose delays others for no
/// longer than that, counted from when the next one arrives or leaves.
///
/// Thread: one loop.
class Turns {
  public:
    /// A request for a turn, and then the turn.
    class Turn {
      public:
        Turn(Turns& turns, const asio::any_io_executor& executor);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

        /// Returns when the turn has come.
        Task<void> come();

      private:
        friend class Turns;
        enum class State { kWaits, kIsHeld, kIsOver };

        Turns& turns_;
        State state_ = State::kWaits;
        std::list<Turn*>::iterator place_;  ///< of the coroutine that waits or holds it
        Instant since_;                     ///< since when it is held
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
    std::list<Turn*> holding_;  ///< oldest first
};

}  // namespace muster::net
