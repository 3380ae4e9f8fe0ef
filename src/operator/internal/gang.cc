#include "operator/internal/gang.h"

#include <algorithm>

namespace muster::operators {

std::int32_t gang_size(const jobs::Job& job) {
    const std::int32_t all = job.total_replicas();
    const auto& policy = job.run_policy.scheduling_policy;
    if (!policy || !policy->min_available) return all;
    return std::min(*policy->min_available, all);
}

void announce_gang(const jobs::Job& job, kube::Pod& pod) {
    const std::int32_t size = gang_size(job);
    if (size > 1)
        pod.metadata.annotations[std::string(kGangSizeAnnotation)] = std::to_string(size);
    else
        pod.metadata.annotations.erase(std::string(kGangSizeAnnotation));
}

}  // namespace muster::operators
