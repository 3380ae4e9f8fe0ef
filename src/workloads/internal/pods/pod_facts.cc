#include "workloads/internal/pods/pod_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "base/time/bounded_seconds.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::workloads {

namespace {

/// More than any policy names: what one pod can make us keep.
constexpr std::size_t kMostConditions = 50;

const json::object* controller_of(const json::object& pod) {
    for (const json::object* owner : kube::objects_at(kube::metadata_of(pod), "ownerReferences"))
        if (kube::bool_at(*owner, "controller")) return owner;
    return nullptr;
}

PodPhase phase_of(const json::object& status) {
    const std::string_view phase = kube::string_at(status, "phase");
    if (phase == "Running") return PodPhase::kRunning;
    if (phase == "Succeeded") return PodPhase::kSucceeded;
    if (phase == "Failed") return PodPhase::kFailed;
    return PodPhase::kPending;
}

void read_containers(const json::object& status, PodFacts& facts) {
    for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
        for (const json::object* container : kube::objects_at(status, list)) {
            facts.restarts += kube::int_at(*container, "restartCount").value_or(0);
            const json::object* ended =
                kube::object_at(kube::child(*container, "state"), "terminated");
            if (ended == nullptr) continue;
            const auto at = kube::parse_time(kube::string_at(*ended, "finishedAt"));
            if (at && (!facts.finished || *facts.finished < *at)) facts.finished = at;
            const std::int64_t code = kube::int_at(*ended, "exitCode").value_or(0);
            if (facts.phase == PodPhase::kFailed && code != 0)
                facts.exits.push_back({std::string(kube::string_at(*container, "name")), code});
        }
    }
}

void read_conditions(const json::object& status, PodFacts& facts) {
    for (const json::object* condition : kube::objects_at(status, "conditions")) {
        const std::string_view type = kube::string_at(*condition, "type");
        const std::string_view state = kube::string_at(*condition, "status");
        if (type == "Ready" && state == "True") {
            facts.ready = true;
            facts.ready_since = kube::parse_time(kube::string_at(*condition, "lastTransitionTime"));
        }
        if (facts.phase == PodPhase::kFailed && facts.conditions.size() < kMostConditions)
            facts.conditions.push_back(fmt::format("{}={}", type, state));
    }
}

}  // namespace

PodPtr pod_facts(const json::value& pod) {
    const json::object* object = pod.if_object();
    if (object == nullptr) return nullptr;
    const json::object* owner = controller_of(*object);
    if (owner == nullptr) return nullptr;
    const std::string_view kind = kube::string_at(*owner, "kind");
    const std::string_view version = kube::string_at(*owner, "apiVersion");
    const bool ours = (kind == "Job" && version.starts_with("batch/")) ||
                      (kind == "ReplicaSet" && version.starts_with("apps/"));
    if (!ours) return nullptr;
    const json::object& metadata = kube::metadata_of(*object);
    const json::object& status = kube::child(*object, "status");
    PodFacts facts;
    facts.name = kube::namespaced_name_of(*object);
    facts.uid = kube::uid_of(*object);
    facts.owner_kind = kind;
    facts.owner_name = kube::string_at(*owner, "name");
    facts.owner_uid = kube::string_at(*owner, "uid");
    facts.phase = phase_of(status);
    facts.scheduled = !kube::string_at(kube::child(*object, "spec"), "nodeName").empty();
    facts.deleting = kube::is_deleting(*object);
    const std::vector<std::string> finalizers = kube::strings_at(metadata, "finalizers");
    facts.tracked = std::ranges::find(finalizers, kTrackingFinalizer) != finalizers.end();
    facts.created = kube::parse_time(kube::string_at(metadata, "creationTimestamp"));
    const json::object& annotations = kube::child(metadata, "annotations");
    const auto number = [&annotations](std::string_view key) {
        return parse_number<std::int64_t>(kube::string_at(annotations, key));
    };
    facts.index = number(kIndexKey);
    facts.index_failures = number(kIndexFailuresKey).value_or(0);
    facts.ignored_index_failures = number(kIgnoredIndexFailuresKey).value_or(0);
    read_containers(status, facts);
    read_conditions(status, facts);
    if (facts.deleting && !facts.finished) {
        // The time at which it has to be gone.
        facts.finished = kube::parse_time(kube::string_at(metadata, "deletionTimestamp"));
        const auto grace = kube::int_at(metadata, "deletionGracePeriodSeconds").value_or(0);
        if (facts.finished) *facts.finished -= bounded_seconds(grace);
    }
    return std::make_shared<const PodFacts>(std::move(facts));
}

}  // namespace muster::workloads
