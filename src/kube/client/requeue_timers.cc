#include "kube/client/requeue_timers.h"

#include "base/time/restarting_task.h"

namespace muster::kube {

RequeueTimers::RequeueTimers(Clock& clock, TaskGroup& tasks,
                             std::function<void(const std::string&)> requeue)
    : clock_(clock), tasks_(tasks), requeue_(std::move(requeue)) {}

void RequeueTimers::set(const std::string& key, std::optional<WallTime> when) {
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) {
        if (known->second == when) return;
        by_time_.erase({known->second, key});
        by_key_.erase(known);
    }
    if (!when) return;
    by_key_.emplace(key, *when);
    by_time_.emplace(*when, key);
    arm();
}

/// Starts a sleeper if the time is earlier than all present ones; a sleeper that finds nothing due
/// when it wakes only starts the next.
void RequeueTimers::arm() {
    if (by_time_.empty()) return;
    const WallTime first = by_time_.begin()->first;
    if (!armed_.empty() && *armed_.begin() <= first) return;
    armed_.insert(first);
    spawn_restarting(tasks_, clock_, "deadlines of a controller",
                     [this, first] { return wait_until(first); });
}

Task<void> RequeueTimers::wait_until(WallTime until) {
    co_await clock_.sleep_until_wall(until);
    armed_.erase(until);
    const WallTime now = clock_.wall_now();
    // Each is forgotten when it was told: after a fault the others still are.
    while (!by_time_.empty() && by_time_.begin()->first <= now) {
        const std::pair<WallTime, std::string> due = *by_time_.begin();
        requeue_(due.second);
        // Unless it was set again.
        if (by_time_.erase(due) > 0) by_key_.erase(due.second);
    }
    arm();
}

}  // namespace muster::kube
