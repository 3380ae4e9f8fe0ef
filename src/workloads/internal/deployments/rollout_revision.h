#pragma once

#include <vector>

#include "workloads/internal/deployments/rollout_set.h"

namespace muster::workloads {

std::int64_t highest_revision(const std::vector<RolloutSet*>& sets);
/// Gives the ReplicaSet this revision unless it has a higher one. The one that it had before, if any,
/// is kept in its history: it is rolled back to.
void raise_revision(RolloutSet& set, std::int64_t revision);
/// A ReplicaSet has the annotations of its Deployment, but for those that concern only one of them.
void copy_annotations(const json::object& deployment, RolloutSet& set);

}  // namespace muster::workloads
