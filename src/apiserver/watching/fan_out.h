#pragma once

#include <cstddef>
#include <deque>

#include "base/async/task_group.h"
#include "base/time/clock.h"

namespace muster::apiserver {

class Watcher;

/// Wakes the readers of watches a few at a time. If all were woken together, a change with a
/// thousand watchers would block the loop for as long as a thousand writes take, and changes that
/// came meanwhile would start another such round after it. Between two turns the loop reads
/// requests and learns of commits; a reader that has not had its turn yet gets these changes in the
/// same write.
///
/// The first readers are woken at once if no round is under way, so that they have a change before
/// the client that made it has its answer, as with kube-apiserver: controllers read their caches
/// right after a write.
///
/// Each waiting reader has one turn in a round, and a round is followed by a cooldown. So however
/// many changes there are, each reader gets at most one write per round: writing five changes costs
/// it about as much as writing one.
///
/// Thread: the server's loop. Refers to watchers until their turn, or until remove().
class FanOut {
  public:
    FanOut(Clock& clock, TaskGroup& tasks) : clock_(clock), tasks_(tasks) {}

    /// Wakes it, at once or after those that were added before. Must not be called again before
    /// that: the watcher keeps track.
    void add(Watcher& watcher);
    void remove(Watcher& watcher);

  private:
    /// How many are woken in one turn: more would delay others, and with fewer the loop would ask
    /// the kernel for events more often than there are any.
    static constexpr std::size_t kTurn = 32;

    static void wake(Watcher& watcher);
    Task<void> run();

    Clock& clock_;
    TaskGroup& tasks_;
    std::deque<Watcher*> waiting_;
    bool running_ = false;
    std::size_t left_at_once_ = 0;  ///< how many more may be woken at once
};

/// How long no one is woken after a round of this duration: for as long again, unless that is too
/// short to matter or so long that a person would notice.
Duration cooldown_after(Duration round);

}  // namespace muster::apiserver
