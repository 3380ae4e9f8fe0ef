#include "runtime/internal/lifecycle/pod_status.h"

#include <algorithm>

#include "base/utf8.h"
#include "kube/objects/codec.h"
#include "kube/values/quantity.h"
#include "kube/values/time.h"

namespace muster::runtime {

namespace {

using State = ContainerRecord::State;

/// Upstream: pkg/kubelet/container, MaxPodTerminationMessageLogLength.
constexpr std::size_t kMaxMessagesOfPod = 12 * 1024;

kube::ContainerStateTerminated terminated_state(const Termination& end) {
    kube::ContainerStateTerminated state;
    state.exit_code = end.exit_code;
    state.reason = end.reason;
    state.message = end.message;
    state.started_at = kube::format_time(end.started_at);
    state.finished_at = kube::format_time(end.finished_at);
    state.container_id = end.container_id;
    return state;
}

/// Gives each container its share of the limit for a pod's messages.
void shorten_messages(kube::PodStatus& status) {
    const std::size_t containers =
        status.init_container_statuses.size() + status.container_statuses.size();
    const std::size_t share = kMaxMessagesOfPod / std::max<std::size_t>(1, containers);
    for (auto* list : {&status.init_container_statuses, &status.container_statuses})
        for (kube::ContainerStatus& container : *list)
            for (kube::ContainerState* state : {&container.state, &container.last_state})
                if (state->terminated && state->terminated->message.size() > share)
                    state->terminated->message =
                        std::string(cut_utf8(state->terminated->message, share));
}

kube::ContainerStatus container_status(const ContainerRecord& record) {
    kube::ContainerStatus status;
    status.name = record.name;
    status.image = record.image;
    // Nothing is pulled, so only its name is known. Clients require the field.
    status.image_id = record.image;
    status.container_id = record.container_id;
    status.restart_count = record.restarts;
    const bool once = record.init && !record.sidecar;
    status.started = record.started && !once;
    status.ready = once ? succeeded(record) : record.ready;
    switch (record.state) {
        case State::kWaiting:
            status.state.waiting.emplace();
            status.state.waiting->reason = record.waiting_reason;
            status.state.waiting->message = record.waiting_message;
            break;
        case State::kRunning:
            status.state.running.emplace();
            status.state.running->started_at = kube::format_time(record.started_at);
            break;
        case State::kTerminated:
            status.state.terminated = terminated_state(*record.terminated);
            break;
    }
    if (record.last) status.last_state.terminated = terminated_state(*record.last);
    return status;
}

/// As a kubelet writes it: whether it is ready is not looked at.
json::value ephemeral_status(const ContainerRecord& record) {
    kube::ContainerStatus status = container_status(record);
    status.ready = false;
    status.started.reset();
    return kube::encode(status);
}

/// It has started at least once.
bool has_started(const ContainerRecord& record) {
    return record.started || record.last || record.terminated;
}

/// "[a b]" as Go prints a slice.
std::string list_names(const std::vector<std::string>& names) {
    std::string text = "[";
    for (const std::string& name : names) {
        if (text.size() > 1) text += ' ';
        text += name;
    }
    return text + "]";
}

kube::PodCondition condition(std::string type, bool status, std::string reason = {},
                             std::string message = {}) {
    kube::PodCondition made;
    made.type = std::move(type);
    made.status = status ? "True" : "False";
    made.reason = std::move(reason);
    made.message = std::move(message);
    return made;
}

std::vector<kube::PodCondition> conditions_of(const PodFacts& facts, const std::string& phase) {
    const bool complete = phase == "Succeeded";
    std::vector<std::string> uninitialized;
    std::vector<std::string> unready;
    for (const ContainerRecord& record : facts.containers) {
        if (record.ephemeral) continue;
        const bool once = record.init && !record.sidecar;
        if (once ? !succeeded(record) : record.sidecar && !has_started(record))
            uninitialized.push_back(record.name);
        if (!once && !record.ready) unready.push_back(record.name);
    }
    std::vector<kube::PodCondition> conditions;
    conditions.push_back(condition("PodReadyToStartContainers", facts.sandbox_ready));
    conditions.push_back(
        uninitialized.empty()
            ? condition("Initialized", true, complete ? "PodCompleted" : "")
            : condition("Initialized", false, "ContainersNotInitialized",
                        "containers with incomplete status: " + list_names(uninitialized)));
    for (const char* type : {"Ready", "ContainersReady"}) {
        if (complete)
            conditions.push_back(condition(type, false, "PodCompleted"));
        else if (phase == "Failed")
            conditions.push_back(condition(type, false, "PodFailed"));
        else if (unready.empty())
            conditions.push_back(condition(type, true));
        else
            conditions.push_back(
                condition(type, false, "ContainersNotReady",
                          "containers with unready status: " + list_names(unready)));
    }
    conditions.push_back(condition("PodScheduled", true));
    return conditions;
}

}  // namespace

bool succeeded(const ContainerRecord& record) {
    return record.state == State::kTerminated && record.terminated->exit_code == 0;
}

std::uint32_t launches_of(const ContainerRecord& record) {
    const bool never =
        record.state == ContainerRecord::State::kWaiting && !record.last && record.restarts == 0;
    return never ? 0 : static_cast<std::uint32_t>(record.restarts) + 1;
}

std::string pod_phase(const PodFacts& facts) {
    int waiting = 0;
    int begun = 0;
    bool initialized = true;
    bool all_good = true;
    for (const ContainerRecord& record : facts.containers) {
        if (record.ephemeral) continue;
        if (record.sidecar) {
            initialized &= has_started(record);
        } else if (record.init) {
            initialized &= succeeded(record);
        } else {
            const bool never_ran = record.state == State::kWaiting && !record.last;
            ++(never_ran ? waiting : begun);
            all_good &= succeeded(record);
        }
    }
    if (facts.ending && std::ranges::none_of(facts.containers, &ContainerRecord::busy)) {
        // Deleted before it was done: a container that never ran did not succeed.
        return facts.failed_reason.empty() && initialized && all_good ? "Succeeded" : "Failed";
    }
    return waiting > 0 || (!initialized && begun == 0) ? "Pending" : "Running";
}

kube::PodStatus make_pod_status(const kube::Pod& pod, const PodFacts& facts, WallTime now) {
    kube::PodStatus status;
    status.rest = pod.status.rest;
    status.phase = pod_phase(facts);
    if (status.phase == "Failed") {
        status.reason = facts.failed_reason;
        status.message = facts.failed_message;
    }
    status.host_ip = facts.host_ip;
    status.pod_ip = facts.pod_ip;
    // The same in lists, which kubectl and newer clients read instead.
    status.rest["hostIPs"] = json::array{json::object{{"ip", facts.host_ip}}};
    status.rest["podIPs"] = json::array{json::object{{"ip", facts.pod_ip}}};
    status.start_time = kube::format_time(facts.start_time);
    status.qos_class = pod.status.qos_class.empty() ? qos_class(pod.spec) : pod.status.qos_class;
    status.conditions = conditions_of(facts, status.phase);
    for (kube::PodCondition& made : status.conditions) {
        auto before =
            std::ranges::find(pod.status.conditions, made.type, &kube::PodCondition::type);
        const bool same = before != pod.status.conditions.end() && before->status == made.status &&
                          !before->last_transition_time.empty();
        made.last_transition_time = same ? before->last_transition_time : kube::format_time(now);
    }
    for (const kube::PodCondition& before : pod.status.conditions)
        if (std::ranges::find(status.conditions, before.type, &kube::PodCondition::type) ==
            status.conditions.end())
            status.conditions.push_back(before);
    json::array ephemeral;
    for (const ContainerRecord& record : facts.containers)
        if (record.ephemeral) ephemeral.push_back(ephemeral_status(record));
    if (!ephemeral.empty()) status.rest[kEphemeralStatuses] = std::move(ephemeral);
    for (const ContainerRecord& record : facts.containers)
        if (!record.ephemeral)
            (record.init ? status.init_container_statuses : status.container_statuses)
                .push_back(container_status(record));
    std::ranges::sort(status.container_statuses, {}, &kube::ContainerStatus::name);
    shorten_messages(status);
    return status;
}

std::string qos_class(const kube::PodSpec& spec) {
    bool any = false;
    bool guaranteed = true;
    auto look = [&](const kube::Container& container) {
        for (const char* name : {"cpu", "memory"}) {
            auto limit = container.resources.limits.find(name);
            auto request = container.resources.requests.find(name);
            const bool limited = limit != container.resources.limits.end();
            const bool requested = request != container.resources.requests.end();
            any |= limited || requested;
            if (!limited) {
                guaranteed = false;
            } else if (requested) {
                auto a = kube::Quantity::parse(limit->second);
                auto b = kube::Quantity::parse(request->second);
                if (!a || !b || *a != *b) guaranteed = false;
            }
        }
    };
    for (const kube::Container& container : spec.init_containers) look(container);
    for (const kube::Container& container : spec.containers) look(container);
    if (!any) return "BestEffort";
    return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace muster::runtime
