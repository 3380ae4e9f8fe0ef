#include "jobs/job.h"

namespace muster::jobs {

bool JobStatus::is(std::string_view type) const {
    for (const JobCondition& condition : conditions)
        if (condition.type == type) return condition.status == "True";
    return false;
}

std::int32_t Job::total_replicas() const {
    std::int32_t total = 0;
    for (const auto& [type, spec] : replicas) total += spec.replicas.value_or(0);
    return total;
}

}  // namespace muster::jobs
