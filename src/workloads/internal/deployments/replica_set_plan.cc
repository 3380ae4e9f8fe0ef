#include "workloads/internal/deployments/replica_set_plan.h"

#include <algorithm>
#include <string_view>

#include "base/time/bounded_seconds.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"
#include "workloads/internal/pods/pod_ranking.h"

namespace muster::workloads {

namespace {

constexpr std::string_view kFailure = "ReplicaFailure";

std::vector<PodPtr> active_of(const std::vector<PodPtr>& pods) {
    std::vector<PodPtr> active;
    for (const PodPtr& pod : pods)
        if (pod->active()) active.push_back(pod);
    return active;
}

std::int64_t wanted_of(const json::object& set) {
    return kube::int_at(kube::child(set, "spec"), "replicas").value_or(1);
}

/// Zeros are left out, as the API's own clients leave them out.
void set_count(json::object& status, std::string_view key, std::int64_t count) {
    if (count == 0)
        status.erase(key);
    else
        status[key] = count;
}

/// A failure that is known already keeps its text and its time.
void set_failure(json::object& status, std::string_view reason, const std::string& failure,
                 WallTime now) {
    json::array kept;
    bool known = false;
    for (const json::object* one : kube::objects_at(status, "conditions")) {
        const bool is_failure = kube::string_at(*one, "type") == kFailure;
        known = known || is_failure;
        if (!is_failure || !failure.empty()) kept.push_back(*one);
    }
    if (!known && !failure.empty())
        kept.push_back({{"type", kFailure},
                        {"status", "True"},
                        {"lastTransitionTime", kube::format_time(now)},
                        {"reason", reason},
                        {"message", failure}});
    if (kept.empty())
        status.erase("conditions");
    else
        status["conditions"] = std::move(kept);
}

}  // namespace

ReplicaChange plan_replicas(const json::object& set, const std::vector<PodPtr>& pods) {
    ReplicaChange change;
    if (kube::is_deleting(set)) return change;
    std::vector<PodPtr> active = active_of(pods);
    const std::int64_t missing = wanted_of(set) - static_cast<std::int64_t>(active.size());
    if (missing >= 0) {
        change.make = std::min(missing, kMostPodsInOneTurn);
        return change;
    }
    rank_for_removal(active);
    active.resize(static_cast<std::size_t>(std::min(-missing, kMostPodsInOneTurn)));
    change.remove = std::move(active);
    return change;
}

ReplicaSetStatus replica_set_status(const json::object& set, const std::vector<PodPtr>& pods,
                                    const std::string& failure, WallTime now) {
    const json::object& spec = kube::child(set, "spec");
    const auto least_ready = bounded_seconds(kube::int_at(spec, "minReadySeconds").value_or(0));
    ReplicaSetStatus made;
    made.status = kube::child(set, "status");
    std::int64_t active = 0;
    std::int64_t ready = 0;
    std::int64_t available = 0;
    for (const PodPtr& pod : pods) {
        if (!pod->active()) continue;
        ++active;
        if (!pod->ready) continue;
        ++ready;
        const WallTime at = pod->ready_since.value_or(now) + least_ready;
        if (least_ready.count() == 0 || at <= now)
            ++available;
        else if (!made.again || at < *made.again)
            made.again = at;
    }
    set_failure(made.status, active < wanted_of(set) ? "FailedCreate" : "FailedDelete", failure,
                now);
    made.status["replicas"] = active;
    set_count(made.status, "fullyLabeledReplicas", active);
    set_count(made.status, "readyReplicas", ready);
    set_count(made.status, "availableReplicas", available);
    made.status["observedGeneration"] =
        kube::int_at(kube::metadata_of(set), "generation").value_or(0);
    return made;
}

}  // namespace muster::workloads
