#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "jobs/job.h"

namespace muster::operators {

// The nodes that a job leaves out: pure functions of what its status says. Others may write a status,
// too: what can't be a node's name or a time is skipped.

/// Those of `before` and those that a plan asks for, the newest last: of one node that is named twice
/// the last entry counts, what is over is dropped, and of more than kMostExcludedNodes the newest stay.
std::vector<jobs::ExcludedNode> excluded_after(const std::vector<jobs::ExcludedNode>& before,
                                               const std::vector<jobs::ExcludedNode>& asked,
                                               WallTime now);

/// Those that a job leaves out now.
std::vector<jobs::ExcludedNode> excluded_now(const std::optional<jobs::ExecutedPlan>& plan,
                                             WallTime now);

/// "n1 (until 2026-01-02T03:04:05Z), n2 and 3 more"; "" for none.
std::string names_of(const std::vector<jobs::ExcludedNode>& nodes);

}  // namespace muster::operators
