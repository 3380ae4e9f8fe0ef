#include "jobs/job.h"

#include "jobs/kind.h"
#include "kube/values/field_path.h"

namespace muster::jobs {

bool JobStatus::is(std::string_view type) const {
    for (const JobCondition& condition : conditions)
        if (condition.type == type) return condition.status == "True";
    return false;
}

std::int32_t Job::total_replicas() const {
    std::int32_t total = 0;
    for (const auto& [type, spec] : replicas)
        if (kind == nullptr || !kind->is_beside(type)) total += spec.replicas.value_or(0);
    return total;
}

bool Job::restarts_all(const ReplicaType& type) const {
    const auto restart = metadata.annotations.find(std::string(annotations::kRestart));
    return jobs::restarts_all(
        type, restart == metadata.annotations.end() ? std::string_view() : restart->second);
}

bool Job::init_containers_get_environment(const ReplicaSpec& spec) const {
    const std::string name(annotations::kInitContainersEnv);
    for (const auto* of : {&spec.template_.metadata.annotations, &metadata.annotations}) {
        const auto found = of->find(name);
        if (found == of->end()) continue;
        if (found->second == annotations::kYes) return true;
        if (found->second == annotations::kNo) return false;
    }
    return false;
}

std::string Job::service_domain() const {
    std::string domain = metadata.namespace_ + ".svc";
    if (!platform.cluster_domain.empty()) domain += "." + platform.cluster_domain;
    return domain;
}

std::string Job::replica_path(const std::string& type) const {
    auto it = spelled.find(type);
    return kube::child_path("spec." + kind->replicas_field,
                            it == spelled.end() ? type : it->second);
}

}  // namespace muster::jobs
