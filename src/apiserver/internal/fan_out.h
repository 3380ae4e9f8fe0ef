#pragma once

#include <cstddef>
#include <deque>

#include "base/task_group.h"

namespace muster::apiserver {

class Watcher;

/// Wakes the readers of watches some at a time. All at once, a change that a thousand watch would
/// hold the loop for as long as a thousand writes take, and what came meanwhile would begin another
/// such round behind it. Between two turns the loop reads requests and learns of commits; whoever
/// has not had its turn yet is told these changes in the same write.
///
/// Thread: the server's loop. Refers to watchers until their turn, or remove().
class FanOut {
  public:
    explicit FanOut(TaskGroup& tasks) : tasks_(tasks) {}

    /// Wakes it when those before it were. Not again before that: the watcher knows.
    void add(Watcher& watcher);
    void remove(Watcher& watcher);

  private:
    /// So many are woken in one turn: more of them keep others waiting, fewer make the loop ask the
    /// kernel for news more often than there is news.
    static constexpr std::size_t kTurn = 32;

    Task<void> run();

    TaskGroup& tasks_;
    std::deque<Watcher*> waiting_;
    bool running_ = false;
};

}  // namespace muster::apiserver
