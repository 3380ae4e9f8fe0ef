#include "operator/internal/integrations/scheduler_plugins.h"

#include "operator/internal/integrations/pod_group.h"

namespace muster::operators::scheduler_plugins {

const kube::ResourceType kPodGroups{"scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup"};

jobs::OwnedObject pod_group(const jobs::Job& job, const Priorities& priorities) {
    jobs::OwnedObject group = operators::pod_group(job, kPodGroups, priorities);
    const auto& policy = job.run_policy.scheduling_policy;
    if (policy && policy->schedule_timeout_seconds)
        group.content["spec"].as_object()["scheduleTimeoutSeconds"] =
            *policy->schedule_timeout_seconds;
    group.kept.emplace_back("spec.scheduleTimeoutSeconds");
    return group;
}

void mark(const jobs::Job& job, kube::Pod& pod) {
    pod.metadata.labels["scheduling.x-k8s.io/pod-group"] = job.metadata.name;
}

}  // namespace muster::operators::scheduler_plugins
