#pragma once

#include <functional>
#include <vector>

#include "base/async/async.h"
#include "base/async/task_group.h"

namespace muster::operators {

/// Begins one request. The task is made only when its turn comes: otherwise thousands of waiting
/// tasks would each hold everything that a request needs.
using Write = std::function<Task<void>()>;

/// Runs `writes`, at most `parallel` at a time, started in order, and returns when all that were
/// started are done; true if that is all of them. `enough` is called before each; once it returns
/// true no other is started. The tasks belong to `tasks`, which must outlive them: if the caller is
/// cancelled, they end with the group. No write may throw anything but operation_aborted.
Task<bool> run_writes(TaskGroup& tasks, std::vector<Write> writes, int parallel,
                      std::function<bool()> enough = nullptr);

}  // namespace muster::operators
