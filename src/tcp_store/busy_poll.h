#pragma once

#include <functional>

#include "base/async/signal.h"
#include "base/time/clock.h"

namespace muster::tcp_store {

/// Keeps the loop awake while requests follow each other closely. A client waits for each answer
/// before it asks again, so that a loop which sleeps between two of them is woken for each: that
/// takes longer than all that is done for one, the more so on a virtual machine. Requests that come
/// now and then keep nothing awake.
///
/// Counted in turns of the loop, not in time: each looks at everything that waits, and whoever else
/// has work for this processor goes first. Where that takes long the processors are busy, nobody is
/// slow to wake, and the loop sleeps as ever for a while: who sleeps is preferred to who gives way.
/// Thread: the loop.
class BusyPoll {
  public:
    /// `give_way`: to others on this processor, if there are any.
    BusyPoll(const asio::any_io_executor& executor, Clock& clock, std::function<void()> give_way);

    /// A request is there.
    void stir();
    /// What a task does for as long as requests may come.
    Task<void> stay_awake();
    bool awake() const { return turns_ > 0; }

  private:
    Clock& clock_;
    std::function<void()> give_way_;
    Instant last_;
    Instant sleep_until_;  ///< processors were busy
    int turns_ = 0;        ///< that are left
    Signal begun_;
};

}  // namespace muster::tcp_store
