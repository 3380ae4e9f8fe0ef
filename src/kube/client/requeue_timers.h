#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/async/task_group.h"
#include "base/time/clock.h"

namespace muster::kube {

/// One calendar time for each key, at which `requeue` is called with the key. Deadlines are stored
/// in calendar time, so they follow the calendar clock when it is set: if it moves forward they
/// fire immediately, and they never fire early. The group runs the sleepers; the timers outlive it.
/// Thread: one loop.
class RequeueTimers {
  public:
    RequeueTimers(Clock& clock, TaskGroup& tasks, std::function<void(const std::string&)> requeue);

    /// Sets the key's deadline; nullopt clears it.
    void set(const std::string& key, std::optional<WallTime> when);

  private:
    Task<void> wait_until(WallTime until);
    void arm();

    Clock& clock_;
    TaskGroup& tasks_;
    std::function<void(const std::string&)> requeue_;
    std::unordered_map<std::string, WallTime> by_key_;
    std::set<std::pair<WallTime, std::string>> by_time_;
    std::set<WallTime> armed_;  ///< the times for which a sleeper waits
};

}  // namespace muster::kube
