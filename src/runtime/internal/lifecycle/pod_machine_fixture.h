#pragma once

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runtime/internal/lifecycle/pod_machine.h"

namespace muster::runtime {

/// Feeds a machine and prints its actions: "sandbox", "start 0", "signal 0 15", "probe 0 Liveness",
/// "hook 0 PreStop", "kill", "delete", "event Reason".
class Life {
  public:
    explicit Life(std::string policy, int init = 0, int mains = 1)
        : Life(pod_of(std::move(policy), init, mains)) {}
    explicit Life(const kube::Pod& pod) : pod(pod) {
        machine.emplace(pod, *read_lifecycles(pod.spec), "10.0.0.1", "127.0.0.1", now());
    }
    static kube::Pod pod_of(std::string policy, int init = 0, int mains = 1) {
        kube::Pod pod;
        pod.metadata.name = "p";
        pod.metadata.namespace_ = "ns";
        pod.metadata.uid = "u";
        pod.spec.restart_policy = std::move(policy);
        for (int i = 0; i < init; ++i)
            pod.spec.init_containers.emplace_back().name = fmt::format("i{}", i);
        for (int i = 0; i < mains; ++i)
            pod.spec.containers.emplace_back().name = fmt::format("c{}", i);
        return pod;
    }
    PodMachine::Now now() const {
        return {Instant(std::chrono::hours(1)) + passed,
                WallTime(std::chrono::seconds(1'700'000'000)) + passed + suspended};
    }
    std::vector<std::string> print(const PodActions& actions) {
        std::vector<std::string> lines;
        for (const PodAction& action : actions) switch (action.kind) {
                case PodAction::Kind::kCreateSandbox:
                    lines.push_back("sandbox");
                    break;
                case PodAction::Kind::kStartContainer:
                    lines.push_back(fmt::format("start {}", action.container));
                    break;
                case PodAction::Kind::kSignal:
                    lines.push_back(fmt::format("signal {} {}", action.container, action.signal));
                    break;
                case PodAction::Kind::kRunProbe:
                    instance = action.instance;
                    lines.push_back(
                        fmt::format("probe {} {}", action.container, probe_name(action.probe)));
                    break;
                case PodAction::Kind::kRunHook:
                    instance = action.instance;
                    lines.push_back(
                        fmt::format("hook {} {}", action.container, hook_name(action.hook)));
                    break;
                case PodAction::Kind::kKillSandbox:
                    lines.push_back("kill");
                    break;
                case PodAction::Kind::kRecordEvent:
                    messages.push_back(action.message);
                    lines.push_back("event " + action.reason);
                    break;
                case PodAction::Kind::kDeletePod:
                    lines.push_back("delete");
                    break;
            }
        return lines;
    }
    using Lines = std::vector<std::string>;
    Lines start() { return print(machine->start(now())); }
    /// By a process whose predecessor was killed, and the pod with it.
    Lines resume(Duration later) {
        const kube::PodStatus earlier = make_pod_status(pod, machine->facts(), now().wall);
        passed += later;
        machine.emplace(pod, *read_lifecycles(pod.spec), "10.0.0.1", "127.0.0.1", now());
        return print(machine->resume(earlier, now()));
    }
    /// By a process whose predecessor was killed, but not the pod.
    Lines take_over(Duration later, const std::vector<RecoveredContainer>& found) {
        const kube::PodStatus earlier = make_pod_status(pod, machine->facts(), now().wall);
        passed += later;
        machine.emplace(pod, *read_lifecycles(pod.spec), "10.0.0.1", "127.0.0.1", now());
        return print(machine->take_over(earlier, found, now()));
    }
    Lines ready() { return print(machine->sandbox_ready(now())); }
    Lines gone() { return print(machine->sandbox_gone(now())); }
    Lines started(std::size_t i = 0, std::string id = "id") {
        return print(machine->container_started(i, std::move(id), now()));
    }
    Lines exited(int code, std::size_t i = 0) {
        return print(
            machine->container_exited(i, {.exit_code = code, .reason = {}, .message = {}}, now()));
    }
    /// A result for the newest instance on which a probe was run.
    Lines probed(ProbeKind kind, bool success, std::size_t i = 0) {
        return print(machine->probe_ended(i, instance, kind,
                                          {.success = success, .output = "refused"}, now()));
    }
    Lines hooked(HookKind kind, bool success, std::size_t i = 0) {
        return print(machine->hook_ended(i, instance, kind,
                                         {.success = success, .output = "exit code 1"}, now()));
    }
    Lines remove(Duration grace) { return print(machine->deletion_requested(grace, now())); }
    Lines tick(Duration later) {
        passed += later;
        return print(machine->tick(now()));
    }
    void run() {
        start();
        ready();
        started();
    }
    std::string phase() const { return machine->phase(); }
    const ContainerRecord& container(std::size_t i = 0) const {
        return machine->facts().containers[i];
    }
    std::optional<Duration> sleeps() const {
        auto at = machine->wake_at();
        if (!at) return std::nullopt;
        return *at - now().mono;
    }

    /// How long it may still be active.
    std::optional<Duration> active_for() const {
        auto until = machine->active_until();
        if (!until) return std::nullopt;
        return *until - now().wall;
    }

    kube::Pod pod;
    std::optional<PodMachine> machine;
    Duration passed{};
    Duration suspended{};                 ///< meanwhile only the calendar went on
    std::uint32_t instance = 0;           ///< of the last probe or hook
    std::vector<std::string> messages{};  ///< of all events
};

}  // namespace muster::runtime
