#pragma once

#include <cstddef>
#include <deque>

#include "base/async/task_group.h"
#include "base/time/clock.h"

namespace muster::apiserver {

class Watcher;

/// Wakes the readers of watches some at a time. All at once, a change that a thousand watch would
/// hold the loop for as long as a thousand writes take, and what came meanwhile would begin another
/// such round behind it. Between two turns the loop reads requests and learns of commits; a reader
/// that has not had its turn yet is told these changes in the same write.
///
/// Each waiting reader has one turn in a round, and a round is followed by a cooldown. So however
/// many changes there are, each reader is told at most once in a while: what a record costs is much
/// the same for one change and for five.
///
/// Thread: the server's loop. Refers to watchers until their turn, or remove().
class FanOut {
  public:
    FanOut(Clock& clock, TaskGroup& tasks) : clock_(clock), tasks_(tasks) {}

    /// Wakes it when those before it were. Not again before that: the watcher knows.
    void add(Watcher& watcher);
    void remove(Watcher& watcher);

  private:
    /// So many are woken in one turn: more of them keep others waiting, fewer make the loop ask the
    /// kernel for news more often than there is news.
    static constexpr std::size_t kTurn = 32;

    Task<void> run();

    Clock& clock_;
    TaskGroup& tasks_;
    std::deque<Watcher*> waiting_;
    bool running_ = false;
};

/// How long nobody is told anything after a round that took so long: as long again, unless that is
/// too short to matter or so long that a person would notice.
Duration cooldown_after(Duration round);

}  // namespace muster::apiserver
