#include "operator/internal/integrations/gang_members.h"

#include <algorithm>
#include <tuple>

#include "jobs/gang.h"
#include "jobs/kind.h"

namespace muster::operators {
namespace {

struct Candidates {
    const std::string* type;
    const jobs::ReplicaSpec* spec;
    std::size_t place;  ///< index in the kind's order
};

std::vector<Candidates> candidates(const jobs::Job& job) {
    std::vector<Candidates> all;
    for (const jobs::ReplicaType& type : job.kind->replica_types) {
        const jobs::ReplicaSpec* spec = job.replica(type.name);
        if (spec != nullptr && jobs::starts_at_first(job, type.name))
            all.push_back({&type.name, spec, all.size()});
    }
    return all;
}

bool is_given(const jobs::Job& job) {
    const auto& policy = job.run_policy.scheduling_policy;
    return policy && !policy->min_resources.empty();
}

}  // namespace

std::int32_t Priorities::of(const std::string& class_name) const {
    if (class_name.empty()) return of_others;
    const auto known = values.find(class_name);
    return known == values.end() ? 0 : known->second;
}

bool depends_on_priorities(const jobs::Job& job) {
    if (is_given(job)) return false;
    std::int32_t all = 0;
    bool named = false;
    const std::vector<Candidates> types = candidates(job);
    for (const Candidates& one : types) {
        all += one.spec->replicas.value_or(0);
        named = named || !one.spec->template_.spec.priority_class_name.empty();
    }
    return types.size() > 1 && named && jobs::gang_size(job) < all;
}

std::vector<GangMembers> gang_members(const jobs::Job& job, std::int32_t size,
                                      const Priorities& priorities) {
    std::vector<Candidates> order = candidates(job);
    std::ranges::sort(order, std::ranges::less(), [&](const Candidates& one) {
        const std::int64_t priority = priorities.of(one.spec->template_.spec.priority_class_name);
        return std::tuple(-priority, one.place);
    });
    std::vector<GangMembers> members;
    for (const Candidates& one : order) {
        const std::int32_t count = std::min(size, one.spec->replicas.value_or(0));
        if (count <= 0) continue;
        members.push_back({*one.type, count});
        size -= count;
    }
    return members;
}

kube::Amounts min_resources(const jobs::Job& job, const Priorities& priorities) {
    if (is_given(job)) return kube::amounts_of(job.run_policy.scheduling_policy->min_resources);
    kube::Amounts sum;
    for (const GangMembers& members : gang_members(job, jobs::gang_size(job), priorities))
        add_times(sum, pod_requests(job.replica(members.type)->template_.spec), members.count);
    return sum;
}

}  // namespace muster::operators
