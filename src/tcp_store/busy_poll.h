#pragma once

#include <functional>

#include "base/async/signal.h"
#include "base/time/clock.h"

namespace muster::tcp_store {

/// Keeps the loop awake while requests follow each other closely. A client waits for each answer
/// before it sends the next request, so a loop that sleeps in between is woken for each one: that
/// takes longer than the work itself, especially on a virtual machine. Occasional requests keep
/// nothing awake.
///
/// Counts turns of the loop, not time: each turn polls for all events, and then yields the CPU to
/// other threads. If yielding takes long, the CPUs are busy, and the loop sleeps as usual for a
/// while: the scheduler wakes a sleeping thread sooner than one that yields. Thread: the loop.
class BusyPoll {
  public:
    /// `give_way` yields to other threads on this CPU, if there are any.
    BusyPoll(const asio::any_io_executor& executor, Clock& clock, std::function<void()> give_way);

    /// A request has arrived.
    void note_activity();
    /// The task to run for as long as requests may arrive.
    Task<void> stay_awake();
    bool awake() const { return turns_ > 0; }

  private:
    Clock& clock_;
    std::function<void()> give_way_;
    Instant last_;
    Instant sleep_until_;  ///< because CPUs were busy
    int turns_ = 0;        ///< turns left
    Signal begun_;
};

}  // namespace muster::tcp_store
