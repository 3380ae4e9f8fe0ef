#include "runtime/internal/lifecycle/pod_machine.h"

#include <algorithm>

#include "base/time/bounded_seconds.h"
#include "runtime/internal/lifecycle/recovery.h"
#include "runtime/internal/pod_containers.h"

namespace muster::runtime {

namespace {

using Kind = PodAction::Kind;
using State = ContainerRecord::State;

constexpr Duration kSandboxRetry = std::chrono::seconds(1);
constexpr Duration kSandboxRetryMax = std::chrono::seconds(60);
constexpr std::int64_t kDefaultGraceSeconds = 30;
/// Of the times in a status.
constexpr Duration kStatusPrecision = std::chrono::seconds(1);

PodTerms terms_of(const kube::Pod& pod) {
    return {.label = fmt::format("{}_{}({})", pod.metadata.name, pod.metadata.namespace_,
                                 pod.metadata.uid),
            .restart_policy = pod.spec.restart_policy.empty() ? "Always" : pod.spec.restart_policy,
            .grace = bounded_seconds(
                pod.spec.termination_grace_period_seconds.value_or(kDefaultGraceSeconds))};
}

ContainerRecord ephemeral_record(const kube::Container& container) {
    ContainerRecord record;
    record.name = container.name;
    record.image = container.image;
    record.ephemeral = true;
    record.waiting_reason = "ContainerCreating";
    return record;
}

std::vector<ContainerRecord> records_of(const kube::PodSpec& spec) {
    std::vector<ContainerRecord> records;
    auto add = [&](const kube::Container& container, bool init) {
        ContainerRecord record;
        record.name = container.name;
        record.image = container.image;
        record.init = init;
        record.sidecar = init && container.restart_policy == "Always";
        record.waiting_reason =
            spec.init_containers.empty() ? "ContainerCreating" : "PodInitializing";
        records.push_back(std::move(record));
    };
    for (const kube::Container& container : spec.init_containers) add(container, true);
    for (const kube::Container& container : spec.containers) add(container, false);
    for (const kube::Container& container : ephemeral_containers_of(spec))
        records.push_back(ephemeral_record(container));
    return records;
}

}  // namespace

PodMachine::PodMachine(const kube::Pod& pod, std::vector<ContainerLifecycle> lifecycles,
                       std::string pod_ip, std::string host_ip, Now now)
    : terms_(terms_of(pod)), active_since_(now.wall) {
    facts_.start_time = now.wall;
    facts_.pod_ip = std::move(pod_ip);
    facts_.host_ip = std::move(host_ip);
    if (pod.spec.active_deadline_seconds)
        active_until_ = active_since_ + bounded_seconds(*pod.spec.active_deadline_seconds);
    facts_.containers = records_of(pod.spec);
    lifecycles.resize(facts_.containers.size());
    containers_.reserve(lifecycles.size());
    for (std::size_t i = 0; i < lifecycles.size(); ++i)
        containers_.emplace_back(terms_, facts_, i, std::move(lifecycles[i]));
}

PodActions PodMachine::resume(const kube::PodStatus& earlier, Now now) {
    recover_facts_from(earlier);
    for (ContainerMachine& container : containers_) container.recover_ended(now);
    if (!work_done()) repeat_init_containers();
    return advance(now);
}

PodActions PodMachine::take_over(const kube::PodStatus& earlier,
                                 const std::vector<RecoveredContainer>& recovered, Now now) {
    recover_facts_from(earlier);
    sandbox_ = Sandbox::kReady;
    facts_.sandbox_ready = true;
    PodActions actions;
    for (std::size_t i = 0; i < containers_.size(); ++i)
        containers_[i].take_over(recovered[i], now, actions);
    return advance(now, std::move(actions));
}

void PodMachine::recover_facts_from(const kube::PodStatus& earlier) {
    recover_facts(facts_, earlier);
    if (earlier.start_time.empty()) return;
    // It began within the second that the status names: no pod is ended early.
    const WallTime since = facts_.start_time + kStatusPrecision;
    if (active_until_) *active_until_ += since - active_since_;
    active_since_ = since;
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
    for (ContainerMachine& container : containers_) container.sandbox_failed(message);
    return advance(now,
                   {make_event(kube::EventType::kWarning, std::move(reason), std::move(message))});
}

PodActions PodMachine::sandbox_gone(Now now) {
    const bool expected = sandbox_ == Sandbox::kEnding;
    sandbox_ = Sandbox::kAbsent;
    facts_.sandbox_ready = false;
    PodActions actions;
    for (ContainerMachine& container : containers_) container.sandbox_gone(expected, now);
    if (!expected && !facts_.ending && !work_done()) {
        sandbox_lost_at_ = now.mono;
        sandbox_retry_at_ = std::max(now.mono + kSandboxRetry, sandbox_backoff_.ready_at(now.mono));
        actions.push_back(make_event(kube::EventType::kWarning, "SandboxChanged",
                                     "Pod sandbox changed, it will be killed and re-created."));
        repeat_init_containers();
    }
    return advance(now, std::move(actions));
}

void PodMachine::repeat_init_containers() {
    for (ContainerMachine& container : containers_) container.repeat();
}

PodActions PodMachine::container_started(std::size_t index, std::string container_id, Now now) {
    PodActions actions;
    containers_[index].started(std::move(container_id), now, actions);
    // It started while the pod was being ended, so it has yet to get its SIGTERM.
    if (facts_.ending) containers_[index].begin_stop(end_by_, now, actions);
    return advance(now, std::move(actions));
}

PodActions PodMachine::config_failed(std::size_t index, std::string message, Now now) {
    PodActions actions;
    containers_[index].config_failed(std::move(message), now, actions);
    return advance(now, std::move(actions));
}

PodActions PodMachine::start_failed(std::size_t index, std::string message, Now now) {
    PodActions actions;
    containers_[index].start_failed(std::move(message), now, actions);
    return advance(now, std::move(actions));
}

PodActions PodMachine::container_exited(std::size_t index, ContainerEnd ended, Now now) {
    containers_[index].exited(std::move(ended), now);
    return advance(now);
}

PodActions PodMachine::probe_ended(std::size_t index, std::uint32_t instance, ProbeKind probe,
                                   const CheckResult& result, Now now) {
    PodActions actions;
    if (!containers_[index].probe_ended(instance, probe, result, now, actions)) return actions;
    return advance(now, std::move(actions));
}

PodActions PodMachine::hook_ended(std::size_t index, std::uint32_t instance, HookKind hook,
                                  const CheckResult& result, Now now) {
    PodActions actions;
    if (!containers_[index].hook_ended(instance, hook, result, now, actions)) return actions;
    return advance(now, std::move(actions));
}

PodActions PodMachine::deadline_changed(std::optional<std::int64_t> seconds, Now now) {
    std::optional<WallTime> until;
    if (seconds) until = active_since_ + bounded_seconds(*seconds);
    if (until == active_until_) return {};
    active_until_ = until;
    return advance(now);
}

PodActions PodMachine::deletion_requested(Duration grace, Now now) {
    PodActions actions;
    deletion_requested_ = true;
    begin_end(grace, now, actions);
    return advance(now, std::move(actions));
}

PodActions PodMachine::container_added(const kube::Container& container, Now now) {
    facts_.containers.push_back(ephemeral_record(container));
    containers_.emplace_back(terms_, facts_, containers_.size(), ContainerLifecycle());
    return advance(now);
}

void PodMachine::begin_end(Duration grace, Now now, PodActions& actions) {
    const Instant deadline = now.mono + grace;
    if (facts_.ending && deadline >= end_by_) return;
    end_by_ = deadline;
    forced_ |= grace <= Duration::zero();
    facts_.ending = true;
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        ContainerMachine& container = containers_[i];
        const bool in_turn = facts_.containers[i].sidecar && !container.stopping() && !forced_;
        if (!container.alive() || in_turn) continue;
        if (container.stopping())
            container.shorten_stop(end_by_, now, actions);
        else
            container.stop(end_by_, now, actions);
    }
}

std::optional<Instant> PodMachine::wake_at() const {
    std::optional<Instant> wake;
    auto also_at = [&wake](std::optional<Instant> at) {
        if (at && (!wake || *at < *wake)) wake = at;
    };
    if (sandbox_ == Sandbox::kAbsent && !facts_.ending) also_at(sandbox_retry_at_);
    if (sandbox_ == Sandbox::kReady)
        for (const ContainerMachine& container : containers_) also_at(container.wake_at());
    return wake;
}

std::optional<WallTime> PodMachine::active_until() const {
    return facts_.ending ? std::nullopt : active_until_;
}

bool PodMachine::has_ended() const {
    const std::string reached = phase();
    return reached == "Succeeded" || reached == "Failed";
}

bool PodMachine::finished() const {
    return sandbox_ == Sandbox::kAbsent && facts_.ending && !any_busy();
}

PodActions PodMachine::advance(Now now, PodActions actions) {
    if (!facts_.ending && work_done()) begin_end(terms_.grace, now, actions);
    if (!facts_.ending && active_until_ && now.wall >= *active_until_) {
        facts_.failed_reason = "DeadlineExceeded";
        facts_.failed_message = "Pod was active on the node longer than the specified deadline";
        actions.push_back(
            make_event(kube::EventType::kNormal, facts_.failed_reason, facts_.failed_message));
        begin_end(terms_.grace, now, actions);
    }
    if (!facts_.ending) {
        if (sandbox_ == Sandbox::kAbsent && now.mono >= sandbox_retry_at_) {
            sandbox_ = Sandbox::kCreating;
            if (sandbox_lost_at_) sandbox_backoff_.restarted(*sandbox_lost_at_, now.mono);
            sandbox_lost_at_.reset();
            actions.push_back(make_action(Kind::kCreateSandbox));
        }
        if (sandbox_ != Sandbox::kReady) return actions;
        advance_containers(now, actions);
    }
    for (ContainerMachine& container : containers_) container.run_probes(now, actions);
    for (ContainerMachine& container : containers_) container.advance_stop(now, actions);
    if (facts_.ending) advance_end(now, actions);
    return actions;
}

void PodMachine::advance_containers(Now now, PodActions& actions) {
    for (std::size_t i = 0; i < containers_.size(); ++i)
        if (facts_.containers[i].ephemeral) containers_[i].advance(now, actions);
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        if (facts_.containers[i].ephemeral) return;
        containers_[i].advance(now, actions);
        const ContainerRecord& record = facts_.containers[i];
        // One init container after the other, each until its success, or until its start for
        // sidecars.
        if (record.sidecar && !containers_[i].was_started()) return;
        if (record.init && !record.sidecar && !succeeded(record)) return;
        // Containers start one after the other too, as a postStart hook may count on it.
        if (containers_[i].starting()) return;
    }
}

void PodMachine::advance_end(Now now, PodActions& actions) {
    // From the last to the first: what a container may need exists as long as it runs.
    for (std::size_t i = containers_.size(); i-- > 0;) {
        ContainerMachine& container = containers_[i];
        if (!container.busy()) continue;
        if (container.alive() && !container.stopping())
            container.stop(std::max(end_by_, now.mono + ContainerStop::kLeast), now, actions);
        return;
    }
    if (sandbox_ == Sandbox::kReady) {
        sandbox_ = Sandbox::kEnding;
        actions.push_back(make_action(Kind::kKillSandbox));
    }
    if (sandbox_ != Sandbox::kAbsent || !deletion_requested_ || deletion_sent_) return;
    deletion_sent_ = true;
    actions.push_back(make_action(Kind::kDeletePod));
}

bool PodMachine::any_busy() const {
    return std::ranges::any_of(containers_, &ContainerMachine::busy);
}

bool PodMachine::work_done() const {
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        const ContainerRecord& record = facts_.containers[i];
        if (record.sidecar || record.ephemeral) continue;
        const bool ended = record.state == State::kTerminated && !containers_[i].restarts();
        if (record.init && ended && !succeeded(record)) return true;
        if (!record.init && !ended) return false;
    }
    return true;
}

}  // namespace muster::runtime
