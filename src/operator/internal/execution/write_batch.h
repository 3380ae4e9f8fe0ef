#pragma once

#include <functional>
#include <vector>

#include "base/async/async.h"
#include "base/async/task_group.h"

namespace muster::operators {

/// Begins one request. The task is made only when its turn comes: otherwise thousands of waiting
/// tasks would each hold everything that a request needs.
using Write = std::function<Task<void>()>;

/// What is known before the next of several writes begins.
struct BeforeWrite {
    bool enough = false;    ///< nothing more is begun
    Write first = nullptr;  ///< begun before it, as one of the writes
};

/// Runs `writes`, at most `parallel` at a time, started in order, and returns when all that were
/// started are done; true if that is all of them. `look` is called before each, until it says that
/// it is enough. The tasks belong to `tasks`, which must outlive them: if the caller is cancelled,
/// they end with the group. No write may throw anything but operation_aborted.
Task<bool> run_writes(TaskGroup& tasks, std::vector<Write> writes, int parallel,
                      std::function<BeforeWrite()> look = nullptr);

}  // namespace muster::operators
