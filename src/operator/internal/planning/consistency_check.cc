#include "operator/internal/planning/consistency_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::operators {
namespace {

template <class Ptr>
void sort_out(const JobRecord& job, const std::unordered_map<std::string, Ptr>& cache,
              std::vector<Ptr>& ours, std::vector<Ptr>& orphans) {
    for (const auto& [key, object] : cache) {
        if (object->owner.uid == job.uid)
            ours.push_back(object);
        else if (object->is_orphan() && object->owner.kind == job.kind &&
                 object->owner.name == job.name && object->namespace_ == job.namespace_)
            orphans.push_back(object);
    }
    std::ranges::sort(orphans, {}, [](const Ptr& object) { return object->uid; });
}

}  // namespace

std::string inconsistencies(const JobRecord& job, const jobs::JobStatus& status,
                            const Dependents& dependents, const Orphans& orphans, WallTime now,
                            const std::unordered_map<std::string, PodPtr>& pods,
                            const std::unordered_map<std::string, ServicePtr>& services,
                            const IntegrationState& integrations, const ScaleOrder* order) {
    std::vector<PodPtr> our_pods;
    std::vector<ServicePtr> our_services;
    Orphans found;
    sort_out(job, pods, our_pods, found.pods);
    sort_out(job, services, our_services, found.services);
    const Dependents anew = dependents.rebuilt_from(our_pods, our_services);
    for (std::uint8_t type = 0; type < job.kind->replica_types.size(); ++type) {
        static const ReplicaTotals kNone;
        const Dependents::OfType* kept = dependents.of(type);
        const Dependents::OfType* made = anew.of(type);
        if ((kept ? kept->totals : kNone) != (made ? made->totals : kNone))
            return fmt::format("{}/{}: the sums of {} are not those of its pods and services",
                               job.namespace_, job.name, job.kind->replica_types[type].name);
    }
    if (found != orphans)
        return fmt::format("{}/{}: the orphans are not those of the caches", job.namespace_,
                           job.name);
    if (plan(job, status, anew, found, now, integrations, order) !=
        plan(job, status, dependents, orphans, now, integrations, order))
        return fmt::format("{}/{}: the plan is not the one made from scratch", job.namespace_,
                           job.name);
    return {};
}

}  // namespace muster::operators
