#pragma once

#include <string_view>

#include "jobs/kind.h"
#include "operator/internal/integrations/gang_members.h"

// Volcano (volcano.sh, scheduling.volcano.sh/v1beta1).

namespace muster::operators::volcano {

extern const kube::ResourceType kPodGroups;

jobs::OwnedObject pod_group(const jobs::Job& job, const Priorities& priorities);

/// Whether a PodGroup with this `status.phase` may have its pods: Volcano first looks for room in
/// the queue.
bool admits(std::string_view phase);

void mark(const jobs::Job& job, const jobs::ReplicaId& replica, kube::Pod& pod);

}  // namespace muster::operators::volcano
