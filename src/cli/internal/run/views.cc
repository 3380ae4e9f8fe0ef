#include "cli/internal/run/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kube/objects/codec.h"
#include "kube/objects/core_objects.h"
#include "kube/objects/pod.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

using kube::child;
using kube::string_at;

std::optional<TerminationView> termination_view(const kube::ContainerState& state) {
    if (!state.terminated) return std::nullopt;
    return TerminationView{.exit_code = state.terminated->exit_code.value_or(0),
                           .signal = state.terminated->signal.value_or(0),
                           .reason = state.terminated->reason,
                           .message = state.terminated->message};
}

ContainerView container_view(const kube::ContainerStatus& status, bool init) {
    ContainerView view;
    view.name = status.name;
    view.init = init;
    view.restarts = status.restart_count.value_or(0);
    view.running = status.state.running.has_value();
    if (status.state.waiting) {
        view.waiting_reason = status.state.waiting->reason;
        view.waiting_message = status.state.waiting->message;
    }
    view.terminated = termination_view(status.state);
    view.last_terminated = termination_view(status.last_state);
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
    view.phase = pod.status.phase;
    view.reason = pod.status.reason;
    view.message = pod.status.message;
    view.scheduled = !pod.spec.node_name.empty();
    view.deleting = pod.metadata.deleting();
    for (const kube::ContainerStatus& status : pod.status.init_container_statuses)
        view.containers.push_back(container_view(status, true));
    for (const kube::ContainerStatus& status : pod.status.container_statuses)
        view.containers.push_back(container_view(status, false));
    return view;
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
    return view;
}

std::string signal_name(int signal) {
    const char* name = ::sigabbrev_np(signal);
    return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
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
        text += fmt::format(" ({})", termination.reason);
    std::string_view message = termination.message;
    while (message.ends_with('\n')) message.remove_suffix(1);
    if (!message.empty()) text += fmt::format(": {}", message);
    return text;
}

}  // namespace muster::cli
