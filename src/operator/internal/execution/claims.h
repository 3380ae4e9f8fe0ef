#pragma once

#include <memory>

#include "base/async/async.h"
#include "base/async/task_group.h"
#include "operator/internal/execution/write_context.h"
#include "operator/internal/planning/plan.h"

namespace muster::operators {

/// Carries out what a plan says of whose is what: adopts, releases, and has batch Jobs let go of
/// pods, `parallel` requests at a time. What fails is told by the context.
///
/// Nothing is adopted for a job that is gone or goes: the API is asked, not the cache.
Task<void> claim(std::shared_ptr<WriteContext> context, Plan plan, TaskGroup& tasks, int parallel);

}  // namespace muster::operators
