#include "jobs/gang.h"

#include <algorithm>
#include <optional>

#include "jobs/kind.h"

namespace muster::jobs {
namespace {

std::optional<std::int32_t> scaled_type_begins_with(const Job& job) {
    if (job.kind == nullptr) return std::nullopt;
    if (job.kind->elasticity)
        if (const std::optional<Elasticity> elastic = job.kind->elasticity(job))
            return elastic->min_replicas;
    return job.kind->pending_policy ? job.kind->pending_policy(job).begins_with : std::nullopt;
}

}  // namespace

bool starts_at_first(const Job& job, const std::string& type) {
    if (job.kind == nullptr) return true;
    if (job.kind->is_beside(type)) return false;
    return !job.kind->starts_after || job.kind->starts_after(job, type).empty();
}

std::int32_t gang_size(const Job& job) {
    const std::optional<std::int32_t> begins_with = scaled_type_begins_with(job);
    std::int32_t all = 0;
    std::int32_t fewest = 0;
    for (const auto& [type, spec] : job.replicas) {
        if (!starts_at_first(job, type)) continue;
        const std::int32_t replicas = spec.replicas.value_or(0);
        all += replicas;
        fewest += begins_with && type == job.kind->scaled_type ? std::min(replicas, *begins_with)
                                                               : replicas;
    }
    const auto& policy = job.run_policy.scheduling_policy;
    const std::int32_t wanted = policy && policy->min_available ? *policy->min_available : fewest;
    return std::clamp(wanted, 0, all);
}

}  // namespace muster::jobs
