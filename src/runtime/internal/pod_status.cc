#include "runtime/internal/pod_status.h"

#include <algorithm>

#include "kube/quantity.h"
#include "kube/time.h"

namespace muster::runtime {

namespace {

using State = ContainerRecord::State;

bool succeeded(const ContainerRecord& record) {
    return record.state == State::kTerminated && record.terminated->exit_code == 0;
}

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

kube::ContainerStatus container_status(const ContainerRecord& record) {
    kube::ContainerStatus status;
    status.name = record.name;
    status.image = record.image;
    status.container_id = record.container_id;
    status.restart_count = record.restarts;
    const bool running = record.state == State::kRunning;
    status.started = running && !record.init;
    status.ready = record.init ? succeeded(record) : running;
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
        if (record.init && !succeeded(record)) uninitialized.push_back(record.name);
        if (!record.init && record.state != State::kRunning) unready.push_back(record.name);
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

std::string pod_phase(const std::string& restart_policy, const PodFacts& facts) {
    const bool never = restart_policy == "Never";
    int waiting = 0;
    int running = 0;
    int stopped = 0;
    int good = 0;
    bool initialized = true;
    for (const ContainerRecord& record : facts.containers) {
        const bool failed = record.state == State::kTerminated && record.terminated->exit_code != 0;
        if (record.init) {
            if (failed && (never || facts.ending)) return "Failed";
            if (!succeeded(record)) initialized = false;
            continue;
        }
        if (record.state == State::kRunning)
            ++running;
        else if (record.state == State::kTerminated || record.last)
            ++stopped;
        else
            ++waiting;
        if (succeeded(record)) ++good;
    }
    const bool busy =
        running > 0 || std::ranges::any_of(facts.containers, [](const ContainerRecord& record) {
            return record.init && record.state == State::kRunning;
        });
    if (facts.ending && !busy) {
        // Deleted before it was done: what never ran did not succeed.
        return waiting == 0 && good == stopped && initialized ? "Succeeded" : "Failed";
    }
    if (!initialized || waiting > 0) return "Pending";
    if (running > 0) return "Running";
    if (restart_policy == "Always" || restart_policy.empty()) return "Running";
    if (good == stopped) return "Succeeded";
    return never ? "Failed" : "Running";
}

kube::PodStatus make_pod_status(const kube::Pod& pod, const PodFacts& facts, WallTime now) {
    kube::PodStatus status;
    status.rest = pod.status.rest;
    status.phase = pod_phase(pod.spec.restart_policy, facts);
    status.host_ip = facts.host_ip;
    status.pod_ip = facts.pod_ip;
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
    for (const ContainerRecord& record : facts.containers)
        (record.init ? status.init_container_statuses : status.container_statuses)
            .push_back(container_status(record));
    std::ranges::sort(status.container_statuses, {}, &kube::ContainerStatus::name);
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
