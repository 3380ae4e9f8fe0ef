#pragma once

#include <functional>
#include <vector>

#include "base/async/async.h"
#include "base/async/task_group.h"

namespace muster::operators {

/// Begins one request. The task is made when its turn comes: thousands that wait would each hold
/// all that a request needs.
using Write = std::function<Task<void>()>;

/// Runs `writes` at most `parallel` at a time, begun in their order, and returns when all that were
/// begun are done: true if that is all. `enough` is asked before each; once it is true no other is
/// begun. The tasks belong to `tasks`, which must outlive them: when the waiter is cancelled, the
/// group's end is theirs too. No write may throw anything but operation_aborted.
Task<bool> run_writes(TaskGroup& tasks, std::vector<Write> writes, int parallel,
                      std::function<bool()> enough = nullptr);

}  // namespace muster::operators
