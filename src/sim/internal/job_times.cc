#include "sim/internal/job_times.h"

#include "jobs/kind.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

void JobTimes::change(Instant now, const store::StoreChange& change) {
    if (change.object == nullptr || !jobs::is_job_resource(change.key.resource)) return;
    Times& times = times_[change.key];
    if (change.previous == nullptr) times = {.made = now};
    if (times.ended) return;
    for (const char* type : {"Succeeded", "Failed"})
        if (condition_of(*change.object, type) == "True") times.ended = now;
}

std::optional<Duration> JobTimes::of(const store::StoreKey& job) const {
    const auto found = times_.find(job);
    if (found == times_.end() || !found->second.ended) return std::nullopt;
    return *found->second.ended - found->second.made;
}

}  // namespace muster::sim
