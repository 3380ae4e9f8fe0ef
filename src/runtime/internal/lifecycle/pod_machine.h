#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/pod.h"
#include "runtime/internal/lifecycle/container_machine.h"
#include "runtime/internal/lifecycle/crash_backoff.h"
#include "runtime/internal/lifecycle/pod_action.h"

namespace muster::runtime {

/// The life of one pod as a decision: events go in, actions come out, and facts() is the basis of
/// the status. No I/O, no clock.
///
///     sandbox:    absent -> creating -> ready -> ending -> absent
///     container:  waiting -> starting -> (postStart hook) -> running -> terminated
///                    ^                                                      |
///                    +---------------------- (back-off) --------------------+
///
/// Once `facts().ending`, nothing starts any more: the pod's work is done, its time is up, or it is
/// being deleted. Its containers are stopped together, then its sidecars from the last to the
/// first, then the sandbox ends.
///
/// Ephemeral containers start as soon as there is a sandbox, whatever the others do, and the pod
/// waits for none of them.
///
/// Containers are addressed by their index in facts().containers: init containers first. A
/// ContainerMachine handles each of them; this decides which may run.
class PodMachine {
  public:
    using Now = PodTime;

    /// `lifecycles`: of each container, in the order of facts().containers; missing ones have
    /// neither probes nor hooks.
    PodMachine(const kube::Pod& pod, std::vector<ContainerLifecycle> lifecycles, std::string pod_ip,
               std::string host_ip, Now now);
    PodMachine(const PodMachine&) = delete;
    PodMachine& operator=(const PodMachine&) = delete;

    PodActions start(Now now) { return advance(now); }
    /// Used instead for a pod of an earlier process whose processes are gone: containers that had
    /// ended stay ended, running ones were killed, and the rest follows from the restart policy.
    PodActions resume(const kube::PodStatus& earlier, Now now);
    /// Used instead for a pod of an earlier process whose sandbox still runs: what happened since
    /// its last status happens now. `recovered`: each container, in the order of
    /// facts().containers.
    PodActions take_over(const kube::PodStatus& earlier,
                         const std::vector<RecoveredContainer>& recovered, Now now);
    PodActions sandbox_ready(Now now);
    /// It could not be made, and is tried again later. `reason` is that of the Event.
    PodActions sandbox_failed(std::string reason, std::string message, Now now);
    /// All processes of the pod are gone, killed by us or by someone else.
    PodActions sandbox_gone(Now now);
    PodActions container_started(std::size_t index, std::string container_id, Now now);
    /// Something that the container needs is missing; it is tried again later.
    PodActions config_failed(std::size_t index, std::string message, Now now);
    PodActions start_failed(std::size_t index, std::string message, Now now);
    PodActions container_exited(std::size_t index, ContainerEnd end, Now now);
    /// Results for an instance that has ended are ignored.
    PodActions probe_ended(std::size_t index, std::uint32_t instance, ProbeKind probe,
                           const CheckResult& result, Now now);
    PodActions hook_ended(std::size_t index, std::uint32_t instance, HookKind hook,
                          const CheckResult& result, Now now);
    /// The object has a deletion timestamp.
    PodActions deletion_requested(Duration grace, Now now);
    /// An ephemeral container was added, and has the highest index now.
    PodActions container_added(const kube::Container& container, Now now);
    /// spec.activeDeadlineSeconds, which may be set and shortened while the pod runs.
    PodActions deadline_changed(std::optional<std::int64_t> seconds, Now now);
    /// Time passed; call at wake_at() or any time.
    PodActions tick(Now now) { return advance(now); }

    /// When to call tick() if nothing happens before.
    std::optional<Instant> wake_at() const;
    /// The same by the calendar: when the pod's time is up.
    std::optional<WallTime> active_until() const;
    const PodFacts& facts() const { return facts_; }
    const ContainerLifecycle& lifecycle(std::size_t index) const {
        return containers_[index].lifecycle();
    }
    std::string phase() const { return pod_phase(facts_); }
    /// The phase is a final one.
    bool has_ended() const;
    /// The phase is final, and nothing of it runs.
    bool finished() const;

  private:
    enum class Sandbox { kAbsent, kCreating, kReady, kEnding };

    void recover_facts_from(const kube::PodStatus& earlier);
    /// What init containers prepared may be gone with the sandbox.
    void repeat_init_containers();
    PodActions advance(Now now, PodActions actions = {});
    void advance_containers(Now now, PodActions& actions);
    void advance_end(Now now, PodActions& actions);
    void begin_end(Duration grace, Now now, PodActions& actions);
    bool any_busy() const;
    /// Only sidecars may still run, and nothing else will.
    bool work_done() const;

    PodTerms terms_;
    /// A pod may be active for so many seconds from then on, by the calendar.
    WallTime active_since_;
    std::optional<WallTime> active_until_;
    PodFacts facts_;
    std::vector<ContainerMachine> containers_;
    Sandbox sandbox_ = Sandbox::kAbsent;
    Instant sandbox_retry_at_{};
    /// Of sandboxes that were lost after they were ready; and when the last was, until the next one
    /// is made.
    CrashBackoff sandbox_backoff_;
    std::optional<Instant> sandbox_lost_at_;
    int sandbox_failures_ = 0;
    Instant end_by_{};  ///< set once it is ending
    bool forced_ = false;
    bool deletion_requested_ = false;
    bool deletion_sent_ = false;
};

}  // namespace muster::runtime
