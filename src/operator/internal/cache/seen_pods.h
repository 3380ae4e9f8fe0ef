#pragma once

#include <vector>

#include "jobs/kind.h"
#include "operator/internal/cache/dependents.h"

namespace muster::operators {

/// The pods of wanted replicas that run, in the order of type and index.
std::vector<jobs::SeenPod> seen_pods(const JobFacts& facts, const Dependents& dependents);

/// Whether a change of a pod (null: there is none) is one of what seen_pods() gives.
bool shows_otherwise(const PodPtr* before, const PodPtr* after);

}  // namespace muster::operators
