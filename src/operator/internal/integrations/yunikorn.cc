#include "operator/internal/integrations/yunikorn.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "base/lower_case.h"
#include "jobs/gang.h"

namespace muster::operators::yunikorn {
namespace {

const std::string kGroup = "yunikorn.apache.org/task-group-name";
const std::string kGroups = "yunikorn.apache.org/task-groups";
const std::string kParameters = "yunikorn.apache.org/schedulingPolicyParameters";
// The first of each pair is read by all versions, the second by those from 1.6 on.
const std::string kApplication[] = {"applicationId", "yunikorn.apache.org/app-id"};
const std::string kQueue[] = {"queue", "yunikorn.apache.org/queue"};

template <std::size_t N>
void label(kube::Pod& pod, const std::string (&names)[N], const std::string& value) {
    const bool is_said = std::ranges::any_of(
        names, [&](const std::string& name) { return pod.metadata.labels.contains(name); });
    if (is_said) return;
    for (const std::string& name : names) pod.metadata.labels[name] = value;
}

/// What the placeholder that YuniKorn reserves for a pod must have in common with it.
json::object task_group(const jobs::Job& job, const GangMembers& members) {
    const kube::PodSpec& spec = job.replica(members.type)->template_.spec;
    json::object group{{"name", lower_case(members.type)},
                       {"minMember", members.count},
                       {"minResource", to_json(kube::pod_requests(spec))}};
    for (const auto& [key, value] : spec.node_selector) {
        json::value& selector = group["nodeSelector"];
        if (!selector.is_object()) selector.emplace_object();
        selector.get_object()[key] = value;
    }
    for (std::string_view field : {"tolerations", "affinity", "topologySpreadConstraints"})
        if (const json::value* written = spec.rest.if_contains(field)) group[field] = *written;
    return group;
}

}  // namespace

void mark(const jobs::Job& job, const jobs::ReplicaId& replica, const Priorities& priorities,
          kube::Pod& pod) {
    // Not only the name: YuniKorn remembers applications that have ended.
    label(pod, kApplication,
          fmt::format("{}-{}", lower_case(job.kind->resource.kind), job.metadata.uid));
    const auto& policy = job.run_policy.scheduling_policy;
    if (policy && !policy->queue.empty()) label(pod, kQueue, policy->queue);

    auto& annotations = pod.metadata.annotations;
    if (annotations.contains(kGroup) || annotations.contains(kGroups)) return;
    json::array groups;
    bool is_member = false;
    for (const GangMembers& members : gang_members(job, jobs::gang_size(job), priorities)) {
        is_member = is_member || members.type == replica.type;
        groups.push_back(task_group(job, members));
    }
    if (groups.empty()) return;
    if (is_member) annotations[kGroup] = lower_case(replica.type);
    annotations[kGroups] = json::serialize(groups);
    if (policy && policy->schedule_timeout_seconds)
        annotations.try_emplace(kParameters, fmt::format("placeholderTimeoutInSeconds={}",
                                                         *policy->schedule_timeout_seconds));
}

}  // namespace muster::operators::yunikorn
