#include "cli/internal/run/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "base/signal_name.h"
#include "jobs/kind.h"
#include "kube/objects/codec.h"
#include "kube/objects/core_objects.h"
#include "kube/objects/pod.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"

namespace muster::cli {

namespace {

using kube::child;
using kube::string_at;

/// What of a pod's spec its containers' states leave out.
struct ContainerFacts {
    bool init = false;
    bool sidecar = false;
    bool main = false;
    std::string memory_limit;
};

ContainerFacts facts_of(const kube::Pod& pod, const std::string& name, bool init) {
    ContainerFacts facts{.init = init, .sidecar = false, .main = false, .memory_limit = {}};
    for (const kube::Container& container : init ? pod.spec.init_containers : pod.spec.containers) {
        if (container.name != name) continue;
        facts.sidecar = init && container.restart_policy == "Always";
        if (const auto limit = container.resources.limits.find("memory");
            limit != container.resources.limits.end())
            facts.memory_limit = limit->second.is_string() ? std::string(limit->second.get_string())
                                                           : json::serialize(limit->second);
    }
    const kube::OwnerReference* owner = pod.metadata.controller();
    if (init || owner == nullptr) return facts;
    const jobs::JobKind* kind = jobs::find_kind(owner->api_version, owner->kind);
    const kube::Container* main =
        kind == nullptr ? nullptr : jobs::default_container(*kind, pod.spec);
    facts.main = main != nullptr && main->name == name;
    return facts;
}

/// Servers tell times to the second.
double seconds_of(const kube::ContainerStateTerminated& ended) {
    const auto begin = kube::parse_time(ended.started_at);
    const auto end = kube::parse_time(ended.finished_at);
    if (!begin || !end) return 0;
    return std::chrono::duration<double>(*end - *begin).count();
}

std::optional<TerminationView> termination_view(const kube::ContainerState& state,
                                                const ContainerFacts& facts) {
    if (!state.terminated) return std::nullopt;
    const bool out_of_memory = state.terminated->reason == "OOMKilled";
    return TerminationView{.exit_code = state.terminated->exit_code.value_or(0),
                           .signal = state.terminated->signal.value_or(0),
                           .reason = state.terminated->reason,
                           .message = state.terminated->message,
                           .memory_limit = out_of_memory ? facts.memory_limit : std::string(),
                           .seconds = seconds_of(*state.terminated)};
}

ContainerView container_view(const kube::Pod& pod, const kube::ContainerStatus& status, bool init) {
    const ContainerFacts facts = facts_of(pod, status.name, init);
    ContainerView view;
    view.name = status.name;
    view.init = facts.init;
    view.sidecar = facts.sidecar;
    view.main = facts.main;
    view.restarts = status.restart_count.value_or(0);
    view.running = status.state.running.has_value();
    view.memory_limit = facts.memory_limit;
    if (status.state.waiting) {
        view.waiting_reason = status.state.waiting->reason;
        view.waiting_message = status.state.waiting->message;
    }
    view.terminated = termination_view(status.state, facts);
    view.last_terminated = termination_view(status.last_state, facts);
    return view;
}

int number_at(const json::object& object, std::string_view key) {
    return static_cast<int>(kube::int_at(object, key).value_or(0));
}

}  // namespace

bool PodView::started() const {
    bool any = false;
    for (const ContainerView& container : containers) {
        if (container.init) continue;
        any = true;
        if (!container.running && !container.terminated && container.restarts == 0) return false;
    }
    return any;
}

int PodView::restarts() const {
    int sum = 0;
    for (const ContainerView& container : containers) sum += container.restarts;
    return sum;
}

bool PodView::stays_ended(const ContainerView& container) const {
    if (!container.terminated || container.sidecar) return false;
    if (restart_policy == "Never") return true;
    const bool good = container.terminated->exit_code == 0;
    return good && (container.init || restart_policy == "OnFailure");
}

const ConditionView* JobView::true_condition(std::string_view type) const {
    for (const ConditionView& condition : conditions)
        if (condition.type == type && condition.is_true) return &condition;
    return nullptr;
}

CountsView JobView::counts() const {
    CountsView sum;
    for (const auto& [type, counts] : replicas) {
        sum.active += counts.active;
        sum.succeeded += counts.succeeded;
        sum.failed += counts.failed;
    }
    return sum;
}

std::optional<PodView> pod_view(const json::value& object) {
    kube::Pod pod;
    std::vector<Cause> ignored;
    kube::decode_into(object, pod, {}, ignored);
    PodView view;
    view.namespace_ = pod.metadata.namespace_;
    view.name = pod.metadata.name;
    view.uid = pod.metadata.uid;
    if (const kube::OwnerReference* owner = pod.metadata.controller()) view.owner_uid = owner->uid;
    auto label = pod.metadata.labels.find("training.kubeflow.org/replica-type");
    if (label != pod.metadata.labels.end()) view.replica_type = label->second;
    label = pod.metadata.labels.find("training.kubeflow.org/replica-index");
    if (label != pod.metadata.labels.end()) view.replica_index = label->second;
    view.phase = pod.status.phase;
    view.reason = pod.status.reason;
    view.message = pod.status.message;
    view.restart_policy = pod.spec.restart_policy;
    view.scheduled = !pod.spec.node_name.empty();
    for (const kube::PodCondition& condition : pod.status.conditions)
        if (condition.type == "PodScheduled" && condition.status == "False")
            view.not_scheduled = join_reason(condition.reason, condition.message);
    view.deleting = pod.metadata.deleting();
    for (const kube::ContainerStatus& status : pod.status.init_container_statuses)
        view.containers.push_back(container_view(pod, status, true));
    for (const kube::ContainerStatus& status : pod.status.container_statuses)
        view.containers.push_back(container_view(pod, status, false));
    return view;
}

std::vector<ContainerView> ephemeral_container_views(const json::value& pod) {
    std::vector<ContainerView> views;
    if (!pod.is_object()) return views;
    std::vector<Cause> ignored;
    for (const json::object* each :
         kube::objects_at(child(pod.get_object(), "status"), "ephemeralContainerStatuses")) {
        // The same form has a name of its own in the schema of a pod.
        kube::Pod holder;
        kube::decode_into(json::object{{"status", {{"containerStatuses", json::array{*each}}}}},
                          holder, {}, ignored);
        for (const kube::ContainerStatus& status : holder.status.container_statuses)
            views.push_back(container_view(holder, status, false));
    }
    return views;
}

std::optional<JobView> job_view(const json::value& object) {
    if (!object.is_object()) return std::nullopt;
    const json::object& root = object.get_object();
    const json::object& metadata = child(root, "metadata");
    const json::object& status = child(root, "status");
    JobView view;
    view.kind = string_at(root, "kind");
    view.namespace_ = string_at(metadata, "namespace");
    view.name = string_at(metadata, "name");
    view.uid = string_at(metadata, "uid");
    for (const json::object* condition : kube::objects_at(status, "conditions"))
        view.conditions.push_back({.type = std::string(string_at(*condition, "type")),
                                   .is_true = string_at(*condition, "status") == "True",
                                   .reason = std::string(string_at(*condition, "reason")),
                                   .message = std::string(string_at(*condition, "message"))});
    view.group_restarts = number_at(status, "restartGeneration");
    for (const auto& [type, value] : child(status, "replicaStatuses")) {
        if (!value.is_object()) continue;
        view.replicas[std::string(type)] = {.active = number_at(value.get_object(), "active"),
                                            .succeeded = number_at(value.get_object(), "succeeded"),
                                            .failed = number_at(value.get_object(), "failed")};
    }
    return view;
}

std::optional<EventView> event_view(const json::value& object) {
    if (!object.is_object()) return std::nullopt;
    const json::object& root = object.get_object();
    const json::object& about = child(root, "involvedObject");
    EventView view;
    view.namespace_ = string_at(about, "namespace");
    view.kind = string_at(about, "kind");
    view.name = string_at(about, "name");
    view.uid = string_at(about, "uid");
    view.warning = string_at(root, "type") == "Warning";
    view.reason = string_at(root, "reason");
    view.message = string_at(root, "message");
    view.count = std::max(1, number_at(root, "count"));
    // "spec.containers{main}"
    const std::string_view field = string_at(about, "fieldPath");
    if (const std::size_t name = field.find('{'); name != field.npos && field.ends_with('}'))
        view.container = field.substr(name + 1, field.size() - name - 2);
    return view;
}

std::string join_reason(std::string_view reason, std::string_view message) {
    while (message.ends_with('\n') || message.ends_with(' ')) message.remove_suffix(1);
    if (reason.empty() || message.empty()) return std::string(reason.empty() ? message : reason);
    return fmt::format("{}: {}", reason, message);
}

std::string describe(const TerminationView& termination) {
    // A shell reports its child's signal as 128 + n, and so does a kubelet for a container.
    int signal = termination.signal;
    if (signal == 0 && termination.exit_code > 128 && termination.exit_code < 128 + 65)
        signal = termination.exit_code - 128;
    std::string text = termination.signal != 0
                           ? fmt::format("was killed by {}", signal_name(signal))
                           : fmt::format("exited with code {}", termination.exit_code);
    if (termination.signal == 0 && signal != 0) text += fmt::format(" ({})", signal_name(signal));
    if (!termination.reason.empty() && termination.reason != "Error" &&
        termination.reason != "Completed")
        text += fmt::format(" ({}{})", termination.reason,
                            termination.memory_limit.empty()
                                ? ""
                                : fmt::format(": its limit is {}", termination.memory_limit));
    std::string_view message = termination.message;
    while (message.ends_with('\n')) message.remove_suffix(1);
    if (!message.empty()) text += fmt::format(": {}", message);
    return text;
}

}  // namespace muster::cli
