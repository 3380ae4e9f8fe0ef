#include "operator/internal/integrations/volcano.h"

#include "base/lower_case.h"
#include "operator/internal/integrations/pod_group.h"

namespace muster::operators::volcano {
namespace {

constexpr std::string_view kQueueAnnotation = "scheduling.volcano.sh/queue-name";

/// The mpi-operator takes the queue from the annotation, the training-operator does not.
std::string queue_of(const jobs::Job& job) {
    const auto& policy = job.run_policy.scheduling_policy;
    if (policy && !policy->queue.empty()) return policy->queue;
    const auto annotated = job.metadata.annotations.find(std::string(kQueueAnnotation));
    if (annotated != job.metadata.annotations.end() && !annotated->second.empty())
        return annotated->second;
    return "default";
}

/// If the policy names none, that of the first template that does, as in the mpi-operator.
std::string priority_class_of(const jobs::Job& job) {
    const auto& policy = job.run_policy.scheduling_policy;
    if (policy && !policy->priority_class.empty()) return policy->priority_class;
    for (const jobs::ReplicaType& type : job.kind->replica_types) {
        const jobs::ReplicaSpec* spec = job.replica(type.name);
        if (spec != nullptr && !spec->template_.spec.priority_class_name.empty())
            return spec->template_.spec.priority_class_name;
    }
    return "";
}

}  // namespace

const kube::ResourceType kPodGroups{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup"};

jobs::OwnedObject pod_group(const jobs::Job& job, const Priorities& priorities) {
    jobs::OwnedObject group = operators::pod_group(job, kPodGroups, priorities);
    json::object& spec = group.content["spec"].as_object();
    spec["queue"] = queue_of(job);
    if (const std::string priority = priority_class_of(job); !priority.empty())
        spec["priorityClassName"] = priority;
    group.kept.emplace_back("spec.priorityClassName");
    // An administrator, or Volcano itself, may move a gang to another queue.
    group.made_once = {"spec.queue"};
    return group;
}

bool admits(std::string_view phase) { return !phase.empty() && phase != "Pending"; }

void mark(const jobs::Job& job, const jobs::ReplicaId& replica, kube::Pod& pod) {
    pod.metadata.annotations["scheduling.k8s.io/group-name"] = job.metadata.name;
    pod.metadata.annotations["volcano.sh/task-spec"] = lower_case(replica.type);
}

}  // namespace muster::operators::volcano
