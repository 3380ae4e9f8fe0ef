#pragma once

#include "jobs/kind.h"
#include "operator/internal/integrations/gang_members.h"

// The coscheduling plugin of kubernetes-sigs/scheduler-plugins (scheduling.x-k8s.io/v1alpha1).

namespace muster::operators::scheduler_plugins {

extern const kube::ResourceType kPodGroups;

jobs::OwnedObject pod_group(const jobs::Job& job, const Priorities& priorities);

void mark(const jobs::Job& job, kube::Pod& pod);

}  // namespace muster::operators::scheduler_plugins
