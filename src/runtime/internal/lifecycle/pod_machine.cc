#include "runtime/internal/lifecycle/pod_machine.h"

#include <signal.h>

#include <algorithm>

namespace muster::runtime {

namespace {

using Kind = PodAction::Kind;
using State = ContainerRecord::State;

constexpr Duration kConfigRetry = std::chrono::seconds(10);
constexpr Duration kSandboxRetry = std::chrono::seconds(1);
constexpr Duration kSandboxRetryMax = std::chrono::seconds(60);
constexpr std::int64_t kDefaultGraceSeconds = 30;
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

void append(PodActions& actions, PodActions more) {
    std::ranges::move(more, std::back_inserter(actions));
}

void earliest(std::optional<Instant>& at, std::optional<Instant> other) {
    if (other && (!at || *other < *at)) at = other;
}

}  // namespace

PodMachine::PodMachine(const kube::Pod& pod, std::vector<ContainerLifecycle> lifecycles,
                       std::string pod_ip, std::string host_ip, Now now)
    : label_(
          fmt::format("{}_{}({})", pod.metadata.name, pod.metadata.namespace_, pod.metadata.uid)),
      restart_policy_(pod.spec.restart_policy.empty() ? "Always" : pod.spec.restart_policy),
      grace_(std::chrono::seconds(
          pod.spec.termination_grace_period_seconds.value_or(kDefaultGraceSeconds))),
      accepted_(now.mono) {
    facts_.start_time = now.wall;
    facts_.pod_ip = std::move(pod_ip);
    facts_.host_ip = std::move(host_ip);
    if (pod.spec.active_deadline_seconds)
        active_until_ = now.mono + std::chrono::seconds(*pod.spec.active_deadline_seconds);
    const bool has_init = !pod.spec.init_containers.empty();
    auto add = [&](const kube::Container& container, bool init) {
        ContainerRecord record;
        record.name = container.name;
        record.image = container.image;
        record.init = init;
        record.sidecar = init && container.restart_policy == "Always";
        record.waiting_reason = has_init ? "PodInitializing" : "ContainerCreating";
        facts_.containers.push_back(std::move(record));
    };
    for (const kube::Container& container : pod.spec.init_containers) add(container, true);
    for (const kube::Container& container : pod.spec.containers) add(container, false);
    progress_.resize(facts_.containers.size());
    lifecycles_ = std::move(lifecycles);
    lifecycles_.resize(facts_.containers.size());
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
    append(actions, advance(now));
    return actions;
}

PodActions PodMachine::sandbox_gone(Now now) {
    const bool expected = sandbox_ == Sandbox::kEnding;
    sandbox_ = Sandbox::kAbsent;
    facts_.sandbox_ready = false;
    PodActions actions;
    for (std::size_t i = 0; i < progress_.size(); ++i) {
        progress_[i].was_started = false;
        if (!busy(i)) continue;
        Termination end;
        end.exit_code = 128 + SIGKILL;
        end.reason = "Error";
        if (!expected) end.message = "the init of the pod was killed, and everything in it with it";
        end_container(i, std::move(end), now);
    }
    if (!expected && !facts_.ending && !work_done()) {
        sandbox_retry_at_ = now.mono + kSandboxRetry;
        actions.push_back(event(kube::EventType::kWarning, "SandboxChanged",
                                "Pod sandbox changed, it will be killed and re-created."));
        repeat_init_containers();
    }
    append(actions, advance(now));
    return actions;
}

void PodMachine::repeat_init_containers() {
    for (std::size_t i = 0; i < progress_.size(); ++i) {
        ContainerRecord& record = facts_.containers[i];
        if (!record.init || record.sidecar || record.state != State::kTerminated) continue;
        record.last = std::move(record.terminated);
        record.terminated.reset();
        record.state = State::kWaiting;
        record.waiting_reason = "PodInitializing";
        progress_[i].counts_as_restart = true;
        progress_[i].retry_at = {};
    }
}

void PodMachine::count_start(std::size_t index, Now now) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    if (record.terminated) record.last = std::move(record.terminated);
    record.terminated.reset();
    if (progress.counts_as_restart) {
        ++record.restarts;
        progress.backoff.restarted(progress.finished, now.mono);
    }
    progress.counts_as_restart = false;
    record.started_at = now.wall;
}

PodActions PodMachine::container_started(std::size_t index, std::string container_id, Now now) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    count_start(index, now);
    progress.begun = now.mono;
    record.container_id = std::move(container_id);
    PodActions actions;
    actions.push_back(event(kube::EventType::kNormal, "Started",
                            fmt::format("Started container {}", record.name)));
    if (facts_.ending) {
        // It started while the pod was being ended: its SIGTERM was still owed.
        begin_running(index);
        stop_container(index, end_by_, now, actions);
    } else if (lifecycles_[index].post_start) {
        progress.stage = Stage::kPostStart;
        record.state = State::kWaiting;
        record.waiting_reason = "ContainerCreating";
        record.waiting_message.clear();
        PodAction hook = act(Kind::kRunHook, index);
        hook.instance = progress.instance;
        hook.hook = HookKind::kPostStart;
        actions.push_back(std::move(hook));
    } else {
        begin_running(index);
    }
    append(actions, advance(now));
    return actions;
}

void PodMachine::begin_running(std::size_t index) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    progress.stage = Stage::kRunning;
    record.state = State::kRunning;
    record.waiting_reason.clear();
    record.waiting_message.clear();
    progress.probes.emplace(lifecycles_[index].timings(), progress.begun);
    refresh(index);
}

PodActions PodMachine::config_failed(std::size_t index, std::string message, Now now) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    progress.stage = Stage::kIdle;
    record.busy = false;
    progress.retry_at = now.mono + kConfigRetry;
    if (record.terminated) record.last = std::move(record.terminated);
    record.terminated.reset();
    record.state = State::kWaiting;
    record.waiting_reason = "CreateContainerConfigError";
    record.waiting_message = message;
    PodActions actions{event(kube::EventType::kWarning, "Failed", "Error: " + message)};
    append(actions, advance(now));
    return actions;
}

PodActions PodMachine::start_failed(std::size_t index, std::string message, Now now) {
    PodActions actions;
    fail_start(index, std::move(message), now, actions);
    append(actions, advance(now));
    return actions;
}

void PodMachine::fail_start(std::size_t index, std::string message, Now now, PodActions& actions) {
    Termination end;
    end.exit_code = kStartErrorCode;
    end.reason = "StartError";
    end.message = message;
    count_start(index, now);
    end_container(index, std::move(end), now);
    actions.push_back(event(kube::EventType::kWarning, "Failed", "Error: " + message));
}

Termination PodMachine::how(ContainerEnd ended) {
    Termination end;
    end.exit_code = ended.exit_code;
    end.reason = !ended.reason.empty()  ? std::move(ended.reason)
                 : ended.exit_code == 0 ? "Completed"
                                        : "Error";
    end.message = std::move(ended.message);
    return end;
}

PodActions PodMachine::container_exited(std::size_t index, ContainerEnd ended, Now now) {
    end_container(index, how(std::move(ended)), now);
    return advance(now);
}

PodActions PodMachine::probe_ended(std::size_t index, std::uint32_t instance, ProbeKind probe,
                                   CheckResult result, Now now) {
    Progress& progress = progress_[index];
    PodActions actions;
    if (progress.instance != instance || progress.stage != Stage::kRunning) return actions;
    if (!result.success)
        actions.push_back(
            event(kube::EventType::kWarning, "Unhealthy",
                  fmt::format("{} probe failed: {}", probe_name(probe), result.output)));
    if (progress.probes->ended(probe, result.success, now.mono))
        kill_unfit(index,
                   fmt::format("Container {} failed {} probe", facts_.containers[index].name,
                               probe == ProbeKind::kStartup ? "startup" : "liveness"),
                   lifecycles_[index].probe(probe).grace, now, actions);
    refresh(index);
    append(actions, advance(now));
    return actions;
}

PodActions PodMachine::hook_ended(std::size_t index, std::uint32_t instance, HookKind hook,
                                  CheckResult result, Now now) {
    Progress& progress = progress_[index];
    PodActions actions;
    if (progress.instance != instance || !alive(index)) return actions;
    if (!result.success)
        actions.push_back(event(kube::EventType::kWarning,
                                fmt::format("Failed{}Hook", hook_name(hook)),
                                fmt::format("{} hook of container {} failed: {}", hook_name(hook),
                                            facts_.containers[index].name, result.output)));
    if (hook == HookKind::kPreStop) {
        if (progress.stop) take_step(index, progress.stop->hook_ended(now.mono), actions);
    } else if (progress.stage == Stage::kPostStart && result.success) {
        begin_running(index);
    } else if (progress.stage == Stage::kPostStart) {
        kill_unfit(
            index,
            fmt::format("Container {} failed its postStart hook", facts_.containers[index].name),
            std::nullopt, now, actions);
    }
    append(actions, advance(now));
    return actions;
}

void PodMachine::kill_unfit(std::size_t index, const std::string& why,
                            std::optional<Duration> grace, Now now, PodActions& actions) {
    if (facts_.ending || progress_[index].stop) return;
    const bool again = may_restart(index);
    progress_[index].start_again = again;
    actions.push_back(
        event(kube::EventType::kNormal, "Killing", why + (again ? ", will be restarted" : "")));
    stop_container(index, now.mono + grace.value_or(grace_), now, actions);
}

PodActions PodMachine::deadline_changed(std::optional<std::int64_t> seconds, Now now) {
    std::optional<Instant> until;
    if (seconds) until = accepted_ + std::chrono::seconds(*seconds);
    if (until == active_until_) return {};
    active_until_ = until;
    return advance(now);
}

PodActions PodMachine::deletion_requested(Duration grace, Now now) {
    PodActions actions;
    deletion_requested_ = true;
    begin_end(grace, now, actions);
    append(actions, advance(now));
    return actions;
}

void PodMachine::begin_end(Duration grace, Now now, PodActions& actions) {
    const Instant deadline = now.mono + grace;
    if (facts_.ending && deadline >= end_by_) return;
    end_by_ = deadline;
    forced_ |= grace <= Duration::zero();
    facts_.ending = true;
    for (std::size_t i = 0; i < progress_.size(); ++i) {
        const bool in_turn = facts_.containers[i].sidecar && !progress_[i].stop && !forced_;
        if (!alive(i) || in_turn) continue;
        if (progress_[i].stop) {
            take_step(i, progress_[i].stop->shorten(end_by_, now.mono), actions);
            continue;
        }
        actions.push_back(event(kube::EventType::kNormal, "Killing",
                                fmt::format("Stopping container {}", facts_.containers[i].name)));
        stop_container(i, end_by_, now, actions);
    }
}

void PodMachine::stop_container(std::size_t index, Instant deadline, Now now, PodActions& actions) {
    Progress& progress = progress_[index];
    if (progress.probes) progress.probes->stop_killing();
    progress.stop.emplace(deadline);
    take_step(index, progress.stop->begin(lifecycles_[index].pre_stop.has_value(), now.mono),
              actions);
}

void PodMachine::take_step(std::size_t index, ContainerStop::Step step, PodActions& actions) {
    switch (step) {
        case ContainerStop::Step::kNothing:
            return;
        case ContainerStop::Step::kRunHook: {
            PodAction hook = act(Kind::kRunHook, index);
            hook.instance = progress_[index].instance;
            hook.hook = HookKind::kPreStop;
            actions.push_back(std::move(hook));
            return;
        }
        case ContainerStop::Step::kSignal:
            actions.push_back(act(Kind::kSignal, index, lifecycles_[index].stop_signal));
            return;
        case ContainerStop::Step::kKill:
            actions.push_back(act(Kind::kSignal, index, SIGKILL));
            return;
    }
}

std::optional<Instant> PodMachine::wake_of(std::size_t index) const {
    const Progress& progress = progress_[index];
    std::optional<Instant> wake;
    if (progress.stage == Stage::kRunning) earliest(wake, progress.probes->next_at());
    if (progress.stop) earliest(wake, progress.stop->wake_at());
    const bool waits = !facts_.ending && !busy(index) && progress.retry_at != Instant{} &&
                       facts_.containers[index].state == State::kWaiting;
    if (waits) earliest(wake, progress.retry_at);
    return wake;
}

std::optional<Instant> PodMachine::wake_at() const {
    std::optional<Instant> wake;
    if (!facts_.ending) earliest(wake, active_until_);
    if (sandbox_ == Sandbox::kAbsent && !facts_.ending) earliest(wake, sandbox_retry_at_);
    if (sandbox_ != Sandbox::kReady) return wake;
    for (std::size_t i = 0; i < progress_.size(); ++i) earliest(wake, wake_of(i));
    return wake;
}

bool PodMachine::finished() const {
    return sandbox_ == Sandbox::kAbsent && facts_.ending && !any_busy();
}

PodActions PodMachine::advance(Now now) {
    PodActions actions;
    if (!facts_.ending && work_done()) begin_end(grace_, now, actions);
    if (!facts_.ending && active_until_ && now.mono >= *active_until_) {
        facts_.failed_reason = "DeadlineExceeded";
        facts_.failed_message = "Pod was active on the node longer than the specified deadline";
        actions.push_back(
            event(kube::EventType::kNormal, facts_.failed_reason, facts_.failed_message));
        begin_end(grace_, now, actions);
    }
    if (facts_.ending) {
        run_probes(now, actions);
        advance_stops(now, actions);
        advance_end(now, actions);
        return actions;
    }
    if (sandbox_ == Sandbox::kAbsent && now.mono >= sandbox_retry_at_) {
        sandbox_ = Sandbox::kCreating;
        actions.push_back(act(Kind::kCreateSandbox));
    }
    if (sandbox_ != Sandbox::kReady) return actions;
    advance_containers(now, actions);
    run_probes(now, actions);
    advance_stops(now, actions);
    return actions;
}

void PodMachine::advance_containers(Now now, PodActions& actions) {
    for (std::size_t i = 0; i < facts_.containers.size(); ++i) {
        advance_container(i, now, actions);
        const ContainerRecord& record = facts_.containers[i];
        const Progress& progress = progress_[i];
        // One init container after the other, each to its success, or to its start for sidecars.
        if (record.sidecar && !progress.was_started) return;
        if (record.init && !record.sidecar && !succeeded(record)) return;
        // Containers start one after the other too, as a postStart hook may count on it.
        if (progress.stage == Stage::kStarting || progress.stage == Stage::kPostStart) return;
    }
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

void PodMachine::run_probes(Now now, PodActions& actions) {
    for (std::size_t i = 0; i < progress_.size(); ++i) {
        Progress& progress = progress_[i];
        if (progress.stage != Stage::kRunning) continue;
        for (const ProbeKind kind : progress.probes->begin_due(now.mono)) {
            PodAction action = act(Kind::kRunProbe, i);
            action.instance = progress.instance;
            action.probe = kind;
            actions.push_back(std::move(action));
        }
    }
}

void PodMachine::advance_stops(Now now, PodActions& actions) {
    for (std::size_t i = 0; i < progress_.size(); ++i)
        if (alive(i) && progress_[i].stop) take_step(i, progress_[i].stop->tick(now.mono), actions);
}

void PodMachine::advance_end(Now now, PodActions& actions) {
    // From the last to the first: what a container may need is there as long as it runs.
    for (std::size_t i = progress_.size(); i-- > 0;) {
        if (!busy(i)) continue;
        if (alive(i) && !progress_[i].stop) {
            actions.push_back(
                event(kube::EventType::kNormal, "Killing",
                      fmt::format("Stopping container {}", facts_.containers[i].name)));
            stop_container(i, std::max(end_by_, now.mono + ContainerStop::kLeast), now, actions);
        }
        return;
    }
    if (sandbox_ == Sandbox::kReady) {
        sandbox_ = Sandbox::kEnding;
        actions.push_back(act(Kind::kKillSandbox));
    }
    if (sandbox_ != Sandbox::kAbsent || !deletion_requested_ || deletion_sent_) return;
    deletion_sent_ = true;
    actions.push_back(act(Kind::kDeletePod));
}

void PodMachine::start_container(std::size_t index, PodActions& actions) {
    Progress& progress = progress_[index];
    progress.stage = Stage::kStarting;
    facts_.containers[index].busy = true;
    ++progress.instance;
    progress.retry_at = {};
    progress.start_again = false;
    actions.push_back(act(Kind::kStartContainer, index));
}

void PodMachine::end_container(std::size_t index, Termination end, Now now) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    progress.stage = Stage::kIdle;
    progress.counts_as_restart = false;
    progress.finished = now.mono;
    progress.probes.reset();
    progress.stop.reset();
    end.started_at = record.started_at == WallTime{} ? now.wall : record.started_at;
    end.finished_at = now.wall;
    end.container_id = record.container_id;
    record.state = State::kTerminated;
    record.busy = false;
    record.terminated = std::move(end);
    record.waiting_reason.clear();
    record.waiting_message.clear();
    refresh(index);
}

/// What the status says about the probes, after anything that may change it.
void PodMachine::refresh(std::size_t index) {
    ContainerRecord& record = facts_.containers[index];
    Progress& progress = progress_[index];
    const bool runs = progress.stage == Stage::kRunning;
    record.started = runs && progress.probes->started();
    record.ready = runs && progress.probes->ready();
    progress.was_started |= record.started;
}

bool PodMachine::any_busy() const {
    for (std::size_t i = 0; i < progress_.size(); ++i)
        if (busy(i)) return true;
    return false;
}

/// Only sidecars may still run, and nothing else will.
bool PodMachine::work_done() const {
    for (std::size_t i = 0; i < facts_.containers.size(); ++i) {
        const ContainerRecord& record = facts_.containers[i];
        if (record.sidecar) continue;
        const bool ended = record.state == State::kTerminated && !restarts(i);
        if (record.init && ended && !succeeded(record)) return true;
        if (!record.init && !ended) return false;
    }
    return true;
}

bool PodMachine::may_restart(std::size_t index) const {
    return facts_.containers[index].sidecar || restart_policy_ != "Never";
}

bool PodMachine::restarts(std::size_t index) const {
    const ContainerRecord& record = facts_.containers[index];
    if (record.state != State::kTerminated || facts_.ending || !may_restart(index)) return false;
    if (record.sidecar || progress_[index].start_again) return true;
    if (restart_policy_ == "OnFailure" || record.init) return !succeeded(record);
    return true;
}

}  // namespace muster::runtime
