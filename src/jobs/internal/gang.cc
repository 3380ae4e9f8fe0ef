#include "jobs/gang.h"

#include <algorithm>
#include <optional>

#include "jobs/kind.h"

namespace muster::jobs {

bool starts_at_first(const Job& job, const std::string& type) {
    return job.kind == nullptr || !job.kind->starts_after ||
           job.kind->starts_after(job, type).empty();
}

std::int32_t gang_size(const Job& job) {
    std::optional<Elasticity> elastic;
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

}  // namespace muster::jobs
