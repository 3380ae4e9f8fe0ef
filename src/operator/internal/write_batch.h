#pragma once

#include <memory>
#include <vector>

#include "base/async.h"
#include "base/task_group.h"

namespace muster::operators {

/// Runs `writes` at most `parallel` at a time, begun in their order, and returns when all are done.
/// The tasks belong to `tasks`, which must outlive them: when the waiter is cancelled, the group's
/// end is theirs too. No write may throw anything but operation_aborted.
Task<void> run_writes(TaskGroup& tasks, std::vector<Task<void>> writes, int parallel);

}  // namespace muster::operators
