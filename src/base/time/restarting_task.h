#pragma once

#include <functional>
#include <string>

#include "base/async/task_group.h"
#include "base/time/clock.h"

namespace muster {

/// For a task that serves others for as long as it runs, or whose work must not be left undone: if
/// it throws, that is logged with an id, and after a pause it begins again. The pause grows from 1 s
/// to a minute, and is short again after a task that ran for longer than the longest pause. It is
/// over when the task returns, or when the group is cancelled.
///
/// `work` makes the task each time, so what it captures lives as long as the group's tasks, as
/// the clock does. `failed` is called each time it threw. Thread: the loop of the group.
void spawn_restarting(TaskGroup& tasks, Clock& clock, std::string name,
                      std::function<Task<void>()> work, TaskGroup::Failed failed = nullptr);

inline constexpr Duration kFirstRestartPause = std::chrono::seconds(1);
inline constexpr Duration kLongestRestartPause = std::chrono::minutes(1);

}  // namespace muster
