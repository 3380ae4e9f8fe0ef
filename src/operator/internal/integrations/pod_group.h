#pragma once

#include "jobs/kind.h"
#include "operator/internal/integrations/gang_members.h"

namespace muster::operators {

/// The common part of the PodGroups of all schedulers: the job's name and annotations, minMember
/// and minResources. The scheduler's own file adds the rest.
jobs::OwnedObject pod_group(const jobs::Job& job, kube::ResourceType type,
                            const Priorities& priorities);

}  // namespace muster::operators
