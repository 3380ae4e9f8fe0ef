#include "operator/internal/integrations/gang.h"

#include <algorithm>

#include "jobs/kind.h"
#include "kube/objects/pod_contract.h"

namespace muster::operators {

bool starts_at_first(const jobs::Job& job, const std::string& type) {
    return job.kind == nullptr || !job.kind->starts_after ||
           job.kind->starts_after(job, type).empty();
}

std::int32_t gang_size(const jobs::Job& job) {
    std::optional<jobs::Elasticity> elastic;
    if (job.kind != nullptr && job.kind->elasticity) elastic = job.kind->elasticity(job);
    std::int32_t all = 0;
    std::int32_t fewest = 0;
    for (const auto& [type, spec] : job.replicas) {
        if (!starts_at_first(job, type)) continue;
        const std::int32_t replicas = spec.replicas.value_or(0);
        all += replicas;
        fewest += elastic && type == job.kind->scaled_type
                      ? std::min(replicas, elastic->min_replicas)
                      : replicas;
    }
    const auto& policy = job.run_policy.scheduling_policy;
    const std::int32_t wanted = policy && policy->min_available ? *policy->min_available : fewest;
    return std::clamp(wanted, 0, all);
}

void announce_gang(const jobs::Job& job, kube::Pod& pod) {
    const std::int32_t size = gang_size(job);
    if (size > 1)
        pod.metadata.annotations[std::string(kube::kGangSizeAnnotation)] = std::to_string(size);
    else
        pod.metadata.annotations.erase(std::string(kube::kGangSizeAnnotation));
}

}  // namespace muster::operators
