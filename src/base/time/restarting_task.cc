#include "base/time/restarting_task.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace muster {

namespace {

struct RestartingTask {
    TaskGroup& tasks;
    Clock& clock;
    std::string name;
    std::function<Task<void>()> work;
    TaskGroup::Failed failed;
    Duration pause = kFirstRestartPause;  ///< before it begins again
};
using Shared = std::shared_ptr<RestartingTask>;

void begin(const Shared& task);

Task<void> begin_after_pause(Shared task, Duration pause) {
    co_await task->clock.sleep_for(pause);
    begin(task);
}

void begin_later(const Shared& task) {
    const Duration pause = task->pause;
    task->pause = std::min(2 * pause, kLongestRestartPause);
    // The pause needs memory, of which there may be none at the moment.
    task->tasks.spawn(task->name + ": pause", begin_after_pause(task, pause),
                      [task](const std::string&) { begin_later(task); });
}

/// A coroutine, so that `work` may throw before it has made its task, and lives as long as that.
Task<void> carry_out(Shared task) { co_await task->work(); }

void begin(const Shared& task) {
    const Instant begun = task->clock.now();
    task->tasks.spawn(task->name, carry_out(task), [task, begun](const std::string& what) {
        if (task->clock.now() - begun > kLongestRestartPause) task->pause = kFirstRestartPause;
        begin_later(task);
        if (task->failed) task->failed(what);
    });
}

}  // namespace

void spawn_restarting(TaskGroup& tasks, Clock& clock, std::string name,
                      std::function<Task<void>()> work, TaskGroup::Failed failed) {
    begin(std::make_shared<RestartingTask>(tasks, clock, std::move(name), std::move(work),
                                           std::move(failed)));
}

}  // namespace muster
