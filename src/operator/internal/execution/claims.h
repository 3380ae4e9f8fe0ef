#pragma once

#include <memory>

#include "base/async/async.h"
#include "base/async/task_group.h"
#include "operator/internal/execution/write_context.h"
#include "operator/internal/planning/plan.h"

namespace muster::operators {

/// Carries out the ownership changes of a plan: adopts, releases, and has batch Jobs release their
/// pods, with `parallel` requests at a time. Failures are reported through the context.
///
/// Nothing is adopted for a job that is gone or being deleted; for that the API is asked, not the
/// cache.
Task<void> claim(std::shared_ptr<WriteContext> context, Plan plan, TaskGroup& tasks, int parallel);

}  // namespace muster::operators
