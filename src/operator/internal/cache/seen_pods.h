#pragma once

#include <vector>

#include "jobs/kind.h"
#include "operator/internal/cache/dependents.h"

namespace muster::operators {

/// The running pods of wanted replicas, in the order of type and index.
std::vector<jobs::SeenPod> seen_pods(const JobFacts& facts, const Dependents& dependents);

/// Whether a change of a pod (null: it does not exist) changes the result of seen_pods().
bool shows_otherwise(const PodPtr* before, const PodPtr* after);

}  // namespace muster::operators
