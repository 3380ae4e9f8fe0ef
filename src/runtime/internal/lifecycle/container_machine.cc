#include "runtime/internal/lifecycle/container_machine.h"

#include <signal.h>

#include <algorithm>

#include "runtime/internal/lifecycle/recovery.h"

namespace muster::runtime {

namespace {

using Kind = PodAction::Kind;
using State = ContainerRecord::State;

constexpr Duration kConfigRetry = std::chrono::seconds(10);
constexpr int kStartErrorCode = 128;

void earliest(std::optional<Instant>& at, std::optional<Instant> other) {
    if (other && (!at || *other < *at)) at = other;
}

Termination termination_of(ContainerEnd ended) {
    Termination end;
    end.exit_code = ended.exit_code;
    end.reason = !ended.reason.empty()  ? std::move(ended.reason)
                 : ended.exit_code == 0 ? "Completed"
                                        : "Error";
    end.message = std::move(ended.message);
    return end;
}

Termination killed(std::string reason, std::string message) {
    Termination end;
    end.exit_code = 128 + SIGKILL;
    end.reason = std::move(reason);
    end.message = std::move(message);
    return end;
}

}  // namespace

bool ContainerMachine::restarts() const {
    if (record().state != State::kTerminated || facts_.ending || !may_restart()) return false;
    if (record().sidecar || start_again_) return true;
    if (pod_.restart_policy == "OnFailure" || record().init) return !succeeded(record());
    return true;
}

std::optional<Instant> ContainerMachine::wake_at() const {
    std::optional<Instant> wake;
    if (stage_ == Stage::kRunning) earliest(wake, probes_->next_at());
    if (stop_) earliest(wake, stop_->wake_at());
    const bool waits =
        !facts_.ending && !busy() && retry_at_ != Instant{} && record().state == State::kWaiting;
    if (waits) earliest(wake, retry_at_);
    return wake;
}

void ContainerMachine::advance(PodTime now, PodActions& actions) {
    if (busy()) return;
    if (record().state == State::kWaiting) {
        if (now.mono >= retry_at_) start(actions);
        return;
    }
    if (!restarts()) return;
    counts_as_restart_ = true;
    retry_at_ = backoff_.ready_at(finished_);
    if (now.mono >= retry_at_) return start(actions);
    shelve_end();
    record().state = State::kWaiting;
    record().waiting_reason = "CrashLoopBackOff";
    record().waiting_message =
        fmt::format("back-off {}s restarting failed container={} pod={}",
                    std::chrono::duration_cast<std::chrono::seconds>(backoff_.wait()).count(),
                    record().name, pod_.label);
    actions.push_back(make_event(kube::EventType::kWarning, "BackOff",
                                 fmt::format("Back-off restarting failed container {} in pod {}",
                                             record().name, pod_.label)));
}

void ContainerMachine::run_probes(PodTime now, PodActions& actions) {
    if (stage_ != Stage::kRunning) return;
    for (const ProbeKind kind : probes_->begin_due(now.mono)) {
        PodAction action = make_action(Kind::kRunProbe, index_);
        action.instance = instance_;
        action.probe = kind;
        actions.push_back(std::move(action));
    }
}

void ContainerMachine::advance_stop(PodTime now, PodActions& actions) {
    if (alive() && stop_) take_step(stop_->tick(now.mono), actions);
}

void ContainerMachine::start(PodActions& actions) {
    stage_ = Stage::kStarting;
    record().busy = true;
    ++instance_;
    retry_at_ = {};
    start_again_ = false;
    actions.push_back(make_action(Kind::kStartContainer, index_));
}

void ContainerMachine::shelve_end() {
    if (record().terminated) record().last = std::move(record().terminated);
    record().terminated.reset();
}

void ContainerMachine::count_start(PodTime now) {
    shelve_end();
    if (counts_as_restart_) {
        ++record().restarts;
        backoff_.restarted(finished_, now.mono);
    }
    counts_as_restart_ = false;
    record().started_at = now.wall;
}

void ContainerMachine::started(std::string container_id, PodTime now, PodActions& actions) {
    count_start(now);
    begun_ = now.mono;
    record().container_id = std::move(container_id);
    actions.push_back(make_event(kube::EventType::kNormal, "Started",
                                 fmt::format("Started container {}", record().name)));
    if (facts_.ending || !lifecycle_.post_start) return begin_running();
    stage_ = Stage::kPostStart;
    record().state = State::kWaiting;
    record().waiting_reason = "ContainerCreating";
    record().waiting_message.clear();
    PodAction hook = make_action(Kind::kRunHook, index_);
    hook.instance = instance_;
    hook.hook = HookKind::kPostStart;
    actions.push_back(std::move(hook));
}

void ContainerMachine::begin_running() {
    stage_ = Stage::kRunning;
    record().state = State::kRunning;
    record().waiting_reason.clear();
    record().waiting_message.clear();
    probes_.emplace(lifecycle_.timings(), begun_);
    refresh();
}

void ContainerMachine::config_failed(std::string message, PodTime now, PodActions& actions) {
    stage_ = Stage::kIdle;
    record().busy = false;
    retry_at_ = now.mono + kConfigRetry;
    shelve_end();
    record().state = State::kWaiting;
    record().waiting_reason = "CreateContainerConfigError";
    record().waiting_message = message;
    actions.push_back(make_event(kube::EventType::kWarning, "Failed", "Error: " + message));
}

void ContainerMachine::start_failed(std::string message, PodTime now, PodActions& actions) {
    Termination failed;
    failed.exit_code = kStartErrorCode;
    failed.reason = "StartError";
    failed.message = message;
    count_start(now);
    end(std::move(failed), now);
    actions.push_back(make_event(kube::EventType::kWarning, "Failed", "Error: " + message));
}

void ContainerMachine::exited(ContainerEnd ended, PodTime now) {
    end(termination_of(std::move(ended)), now);
}

void ContainerMachine::end(Termination end, PodTime now) {
    stage_ = Stage::kIdle;
    counts_as_restart_ = false;
    finished_ = now.mono;
    probes_.reset();
    stop_.reset();
    end.started_at = record().started_at == WallTime{} ? now.wall : record().started_at;
    end.finished_at = now.wall;
    end.container_id = record().container_id;
    record().state = State::kTerminated;
    record().busy = false;
    record().terminated = std::move(end);
    record().waiting_reason.clear();
    record().waiting_message.clear();
    refresh();
}

void ContainerMachine::sandbox_failed(const std::string& message) {
    if (record().state != State::kWaiting) return;
    record().waiting_reason = "CreateContainerConfigError";
    record().waiting_message = message;
}

void ContainerMachine::sandbox_gone(bool expected, PodTime now) {
    was_started_ = false;
    if (!busy()) return;
    end(killed("Error",
               expected ? "" : "the pod's init was killed, and with it everything in the pod"),
        now);
}

bool ContainerMachine::probe_ended(std::uint32_t instance, ProbeKind probe,
                                   const CheckResult& result, PodTime now, PodActions& actions) {
    if (instance_ != instance || stage_ != Stage::kRunning) return false;
    if (!result.success)
        actions.push_back(
            make_event(kube::EventType::kWarning, "Unhealthy",
                       fmt::format("{} probe failed: {}", probe_name(probe), result.output)));
    if (probes_->ended(probe, result.success, now.mono))
        kill_unfit(fmt::format("Container {} failed {} probe", record().name,
                               probe == ProbeKind::kStartup ? "startup" : "liveness"),
                   lifecycle_.probe(probe).grace, now, actions);
    refresh();
    return true;
}

bool ContainerMachine::hook_ended(std::uint32_t instance, HookKind hook, const CheckResult& result,
                                  PodTime now, PodActions& actions) {
    if (instance_ != instance || !alive()) return false;
    if (!result.success)
        actions.push_back(make_event(kube::EventType::kWarning,
                                     fmt::format("Failed{}Hook", hook_name(hook)),
                                     fmt::format("{} hook of container {} failed: {}",
                                                 hook_name(hook), record().name, result.output)));
    if (hook == HookKind::kPreStop) {
        if (stop_) take_step(stop_->hook_ended(now.mono), actions);
    } else if (stage_ == Stage::kPostStart && result.success) {
        begin_running();
    } else if (stage_ == Stage::kPostStart) {
        kill_unfit(fmt::format("Container {} failed its postStart hook", record().name),
                   std::nullopt, now, actions);
    }
    return true;
}

void ContainerMachine::kill_unfit(const std::string& why, std::optional<Duration> grace,
                                  PodTime now, PodActions& actions) {
    if (facts_.ending || stop_) return;
    start_again_ = may_restart();
    actions.push_back(make_event(kube::EventType::kNormal, "Killing",
                                 why + (start_again_ ? ", will be restarted" : "")));
    begin_stop(now.mono + grace.value_or(pod_.grace), now, actions);
}

void ContainerMachine::stop(Instant deadline, PodTime now, PodActions& actions) {
    actions.push_back(make_event(kube::EventType::kNormal, "Killing",
                                 fmt::format("Stopping container {}", record().name)));
    begin_stop(deadline, now, actions);
}

void ContainerMachine::begin_stop(Instant deadline, PodTime now, PodActions& actions) {
    if (probes_) probes_->stop_killing();
    stop_.emplace(deadline);
    take_step(stop_->begin(lifecycle_.pre_stop.has_value(), now.mono), actions);
}

void ContainerMachine::shorten_stop(Instant deadline, PodTime now, PodActions& actions) {
    take_step(stop_->shorten(deadline, now.mono), actions);
}

void ContainerMachine::take_step(ContainerStop::Step step, PodActions& actions) {
    PodAction action = make_action(Kind::kSignal, index_);
    switch (step) {
        case ContainerStop::Step::kNothing:
            return;
        case ContainerStop::Step::kRunHook:
            action.kind = Kind::kRunHook;
            action.instance = instance_;
            action.hook = HookKind::kPreStop;
            break;
        case ContainerStop::Step::kSignal:
            action.signal = lifecycle_.stop_signal;
            break;
        case ContainerStop::Step::kKill:
            action.signal = SIGKILL;
            break;
    }
    actions.push_back(std::move(action));
}

void ContainerMachine::repeat() {
    if (!record().init || record().sidecar || record().state != State::kTerminated) return;
    shelve_end();
    record().state = State::kWaiting;
    record().waiting_reason = "PodInitializing";
    counts_as_restart_ = true;
    retry_at_ = {};
}

void ContainerMachine::refresh() {
    const bool runs = stage_ == Stage::kRunning;
    record().started = runs && probes_->started();
    record().ready = runs && probes_->ready();
    was_started_ |= record().started;
}

void ContainerMachine::recover_backoff(PodTime now) {
    const auto reading_at = [now](WallTime time) {
        return now.mono - std::max<Duration>(now.wall - time, Duration::zero());
    };
    const bool waits = record().state == State::kWaiting;
    const std::optional<Termination>& end = waits ? record().last : record().terminated;
    finished_ = end ? reading_at(end->finished_at) : now.mono;
    const WallTime began = waits && end ? end->started_at : record().started_at;
    backoff_ = CrashBackoff(recovered_wait(record()), reading_at(began));
}

void ContainerMachine::recover_ended(PodTime now) {
    recover_backoff(now);
    if (record().state == State::kRunning)
        end(killed("ContainerStatusUnknown", "the container was gone when muster came back"), now);
    if (record().state == State::kWaiting && record().last)
        retry_at_ = backoff_.ready_at(finished_);
    counts_as_restart_ = record().state == State::kWaiting && record().last.has_value();
}

void ContainerMachine::take_over(const RecoveredContainer& recovered, PodTime now,
                                 PodActions& actions) {
    using Recovered = RecoveredContainer::State;
    if (recovered.state == Recovered::kNone || is_accounted_for(record(), recovered))
        return recover_ended(now);

    recover_backoff(now);
    // Its number says how often it was restarted, even if the last status did not get that far.
    const bool same =
        record().state == State::kRunning && record().container_id == recovered.container_id;
    const auto before = static_cast<int>(recovered.launch) - 1;
    if (!same) {
        shelve_end();
        record().started_at = now.wall;
    }
    ++instance_;
    record().busy = true;
    if (recovered.state == Recovered::kStarting || recovered.state == Recovered::kFailed) {
        // As before: the start is counted when it is reported.
        record().state = State::kWaiting;
        record().waiting_reason = "ContainerCreating";
        record().restarts = std::max(before - 1, 0);
        stage_ = Stage::kStarting;
        record().waiting_message.clear();
        counts_as_restart_ = before > 0;
        if (recovered.state == Recovered::kFailed)
            start_failed(recovered.end.message, now, actions);
        return;
    }
    // Its last start was not in the status yet.
    if (before > record().restarts) backoff_.restarted(finished_, now.mono);
    record().restarts = before;
    record().container_id = recovered.container_id;
    // What may start after it need not wait for its startup probe again. There is no postStart
    // hook: it had begun, and nothing tells how far it got.
    was_started_ |= record().started;
    begun_ = now.mono;
    begin_running();
    if (recovered.state == Recovered::kEnded) exited(recovered.end, now);
}

}  // namespace muster::runtime
