#include "runtime/internal/pod_machine.h"

#include <signal.h>

#include <algorithm>

namespace muster::runtime {

namespace {

using Kind = PodAction::Kind;
using State = ContainerRecord::State;

constexpr Duration kConfigRetry = std::chrono::seconds(10);
constexpr Duration kSandboxRetry = std::chrono::seconds(1);
constexpr Duration kSandboxRetryMax = std::chrono::seconds(60);
constexpr int kStartErrorCode = 128;

PodAction act(Kind kind, std::size_t container = 0, int signal = 0) {
    PodAction action;
    action.kind = kind;
    action.container = container;
    action.signal = signal;
    return action;
}

PodAction event(kube::EventType type, std::string reason, std::string message) {
    PodAction action;
    action.kind = Kind::kRecordEvent;
    action.event_type = type;
    action.reason = std::move(reason);
    action.message = std::move(message);
    return action;
}

}  // namespace

PodMachine::PodMachine(const kube::Pod& pod, std::string pod_ip, std::string host_ip, Now now)
    : label_(
          fmt::format("{}_{}({})", pod.metadata.name, pod.metadata.namespace_, pod.metadata.uid)),
      restart_policy_(pod.spec.restart_policy.empty() ? "Always" : pod.spec.restart_policy) {
    facts_.start_time = now.wall;
    facts_.pod_ip = std::move(pod_ip);
    facts_.host_ip = std::move(host_ip);
    const bool has_init = !pod.spec.init_containers.empty();
    auto add = [&](const kube::Container& container, bool init) {
        ContainerRecord record;
        record.name = container.name;
        record.image = container.image;
        record.init = init;
        record.waiting_reason = has_init ? "PodInitializing" : "ContainerCreating";
        facts_.containers.push_back(std::move(record));
    };
    for (const kube::Container& container : pod.spec.init_containers) add(container, true);
    for (const kube::Container& container : pod.spec.containers) add(container, false);
    progress_.resize(facts_.containers.size());
}

PodActions PodMachine::sandbox_ready(Now now) {
    sandbox_ = Sandbox::kReady;
    sandbox_failures_ = 0;
    facts_.sandbox_ready = true;
    return advance(now);
}

PodActions PodMachine::sandbox_failed(std::string reason, std::string message, Now now) {
    sandbox_ = Sandbox::kAbsent;
    sandbox_retry_at_ = now.mono + std::min(kSandboxRetryMax,
                                            kSandboxRetry * (1 << std::min(sandbox_failures_, 6)));
    ++sandbox_failures_;
    PodActions actions;
    for (ContainerRecord& record : facts_.containers)
        if (record.state == State::kWaiting) {
            record.waiting_reason = "CreateContainerConfigError";
            record.waiting_message = message;
        }
    actions.push_back(event(kube::EventType::kWarning, std::move(reason), std::move(message)));
    std::ranges::move(advance(now), std::back_inserter(actions));
    return actions;
}

PodActions PodMachine::sandbox_gone(Now now) {
    const bool expected = sandbox_ == Sandbox::kEnding;
    sandbox_ = Sandbox::kAbsent;
    facts_.sandbox_ready = false;
    PodActions actions;
    for (std::size_t i = 0; i < progress_.size(); ++i) {
        if (!busy(i)) continue;
        Termination end;
        end.exit_code = 128 + SIGKILL;
        end.reason = "Error";
        if (!expected) end.message = "the init of the pod was killed, and everything in it with it";
        end_container(i, std::move(end), now);
    }
    if (!expected) {
        sandbox_retry_at_ = now.mono + kSandboxRetry;
        actions.push_back(event(kube::EventType::kWarning, "SandboxChanged",
                                "Pod sandbox changed, it will be killed and re-created."));
    }
    std::ranges::move(advance(now), std::back_inserter(actions));
    return actions;
}

PodActions PodMachine::container_started(std::size_t index, std::string container_id, Now now) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    if (record.terminated) record.last = std::move(record.terminated);
    record.terminated.reset();
    if (progress.counts_as_restart) {
        ++record.restarts;
        progress.backoff.restarted(progress.finished, now.mono);
    }
    progress.starting = false;
    progress.counts_as_restart = false;
    record.state = State::kRunning;
    record.started_at = now.wall;
    record.container_id = std::move(container_id);
    record.waiting_reason.clear();
    record.waiting_message.clear();
    PodActions actions;
    actions.push_back(event(kube::EventType::kNormal, "Started",
                            fmt::format("Started container {}", record.name)));
    // It started while the pod was being deleted: its SIGTERM was still owed.
    if (facts_.ending) actions.push_back(act(Kind::kSignal, index, killed_ ? SIGKILL : SIGTERM));
    std::ranges::move(advance(now), std::back_inserter(actions));
    return actions;
}

PodActions PodMachine::config_failed(std::size_t index, std::string message, Now now) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    progress.starting = false;
    progress.retry_at = now.mono + kConfigRetry;
    if (record.terminated) record.last = std::move(record.terminated);
    record.terminated.reset();
    record.state = State::kWaiting;
    record.waiting_reason = "CreateContainerConfigError";
    record.waiting_message = message;
    PodActions actions{event(kube::EventType::kWarning, "Failed", "Error: " + message)};
    std::ranges::move(advance(now), std::back_inserter(actions));
    return actions;
}

PodActions PodMachine::start_failed(std::size_t index, std::string message, Now now) {
    Termination end;
    end.exit_code = kStartErrorCode;
    end.reason = "StartError";
    end.message = message;
    ContainerRecord& record = facts_.containers[index];
    if (record.terminated) record.last = std::move(record.terminated);
    if (progress_[index].counts_as_restart) {
        ++record.restarts;
        progress_[index].backoff.restarted(progress_[index].finished, now.mono);
    }
    record.started_at = now.wall;
    end_container(index, std::move(end), now);
    PodActions actions{event(kube::EventType::kWarning, "Failed", "Error: " + message)};
    std::ranges::move(advance(now), std::back_inserter(actions));
    return actions;
}

PodActions PodMachine::container_exited(std::size_t index, int exit_code, Now now) {
    Termination end;
    end.exit_code = exit_code;
    end.reason = exit_code == 0 ? "Completed" : "Error";
    end_container(index, std::move(end), now);
    return advance(now);
}

PodActions PodMachine::deletion_requested(Duration grace, Now now) {
    PodActions actions;
    const Instant deadline = now.mono + grace;
    if (facts_.ending) {
        // Deleted again with a shorter grace.
        if (kill_at_ && deadline < *kill_at_) kill_at_ = deadline;
        return tick(now);
    }
    facts_.ending = true;
    kill_at_ = deadline;
    for (std::size_t i = 0; i < facts_.containers.size(); ++i) {
        if (facts_.containers[i].state != State::kRunning) continue;
        actions.push_back(event(kube::EventType::kNormal, "Killing",
                                fmt::format("Stopping container {}", facts_.containers[i].name)));
        actions.push_back(act(Kind::kSignal, i, SIGTERM));
    }
    std::ranges::move(tick(now), std::back_inserter(actions));
    return actions;
}

PodActions PodMachine::tick(Now now) {
    PodActions actions;
    if (kill_at_ && !killed_ && now.mono >= *kill_at_ && any_busy()) {
        killed_ = true;
        for (std::size_t i = 0; i < facts_.containers.size(); ++i)
            if (facts_.containers[i].state == State::kRunning)
                actions.push_back(act(Kind::kSignal, i, SIGKILL));
    }
    std::ranges::move(advance(now), std::back_inserter(actions));
    return actions;
}

std::optional<Instant> PodMachine::wake_at() const {
    if (facts_.ending) {
        if (kill_at_ && !killed_ && any_busy()) return kill_at_;
        return std::nullopt;
    }
    if (terminal()) return std::nullopt;
    if (sandbox_ == Sandbox::kAbsent) return sandbox_retry_at_;
    if (sandbox_ != Sandbox::kReady) return std::nullopt;
    std::optional<Instant> wake;
    for (std::size_t i = 0; i < progress_.size(); ++i) {
        const bool waits = !busy(i) && progress_[i].retry_at != Instant{} &&
                           facts_.containers[i].state == State::kWaiting;
        if (waits && (!wake || progress_[i].retry_at < *wake)) wake = progress_[i].retry_at;
    }
    return wake;
}

bool PodMachine::finished() const {
    return sandbox_ == Sandbox::kAbsent && (terminal() || (facts_.ending && !any_busy()));
}

PodActions PodMachine::advance(Now now) {
    PodActions actions;
    if (facts_.ending || terminal()) {
        advance_end(now, actions);
        return actions;
    }
    if (sandbox_ == Sandbox::kAbsent && now.mono >= sandbox_retry_at_) {
        sandbox_ = Sandbox::kCreating;
        actions.push_back(act(Kind::kCreateSandbox));
    }
    if (sandbox_ != Sandbox::kReady) return actions;
    for (std::size_t i = 0; i < facts_.containers.size(); ++i) {
        advance_container(i, now, actions);
        // One init container after the other, each to its success.
        const ContainerRecord& record = facts_.containers[i];
        if (record.init && (record.state != State::kTerminated || restarts(i))) break;
    }
    return actions;
}

void PodMachine::advance_end(Now, PodActions& actions) {
    if (any_busy()) return;
    if (sandbox_ == Sandbox::kReady) return kill_sandbox(actions);
    if (sandbox_ != Sandbox::kAbsent || !facts_.ending || deleted_) return;
    deleted_ = true;
    actions.push_back(act(Kind::kDeletePod));
}

void PodMachine::advance_container(std::size_t index, Now now, PodActions& actions) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    if (busy(index)) return;
    if (record.state == State::kWaiting) {
        if (now.mono >= progress.retry_at) start_container(index, actions);
        return;
    }
    if (!restarts(index)) return;
    progress.counts_as_restart = true;
    progress.retry_at = progress.backoff.ready_at(progress.finished);
    if (now.mono >= progress.retry_at) return start_container(index, actions);
    record.last = std::move(record.terminated);
    record.terminated.reset();
    record.state = State::kWaiting;
    record.waiting_reason = "CrashLoopBackOff";
    record.waiting_message = fmt::format(
        "back-off {}s restarting failed container={} pod={}",
        std::chrono::duration_cast<std::chrono::seconds>(progress.backoff.wait()).count(),
        record.name, label_);
    actions.push_back(event(
        kube::EventType::kWarning, "BackOff",
        fmt::format("Back-off restarting failed container {} in pod {}", record.name, label_)));
}

void PodMachine::start_container(std::size_t index, PodActions& actions) {
    progress_[index].starting = true;
    progress_[index].retry_at = {};
    actions.push_back(act(Kind::kStartContainer, index));
}

void PodMachine::end_container(std::size_t index, Termination end, Now now) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    progress.starting = false;
    progress.counts_as_restart = false;
    progress.finished = now.mono;
    end.started_at = record.started_at == WallTime{} ? now.wall : record.started_at;
    end.finished_at = now.wall;
    end.container_id = record.container_id;
    record.state = State::kTerminated;
    record.terminated = std::move(end);
    record.waiting_reason.clear();
    record.waiting_message.clear();
}

void PodMachine::kill_sandbox(PodActions& actions) {
    sandbox_ = Sandbox::kEnding;
    actions.push_back(act(Kind::kKillSandbox));
}

bool PodMachine::busy(std::size_t index) const {
    return progress_[index].starting || facts_.containers[index].state == State::kRunning;
}

bool PodMachine::any_busy() const {
    for (std::size_t i = 0; i < progress_.size(); ++i)
        if (busy(i)) return true;
    return false;
}

bool PodMachine::terminal() const {
    const std::string phase = pod_phase(restart_policy_, facts_);
    return phase == "Succeeded" || phase == "Failed";
}

bool PodMachine::restarts(std::size_t index) const {
    const ContainerRecord& record = facts_.containers[index];
    if (record.state != State::kTerminated) return false;
    const bool failed = record.terminated->exit_code != 0;
    if (restart_policy_ == "Never") return false;
    if (restart_policy_ == "OnFailure" || record.init) return failed;
    return true;
}

}  // namespace muster::runtime
