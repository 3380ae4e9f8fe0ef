#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/client/event_recorder.h"
#include "kube/objects/pod.h"
#include "runtime/internal/lifecycle/check_result.h"
#include "runtime/internal/lifecycle/container_stop.h"
#include "runtime/internal/lifecycle/crash_backoff.h"
#include "runtime/internal/lifecycle/lifecycle.h"
#include "runtime/internal/lifecycle/pod_status.h"
#include "runtime/internal/lifecycle/recovered_container.h"

namespace muster::runtime {

/// What the pod's shell is to do next.
struct PodAction {
    enum class Kind {
        kCreateSandbox,
        kStartContainer,  ///< container
        kSignal,          ///< container, signal
        kRunProbe,        ///< container, instance, probe; answered by probe_ended()
        kRunHook,         ///< container, instance, hook; answered by hook_ended()
        kKillSandbox,
        kRecordEvent,  ///< event_type, reason, message
        kDeletePod,    ///< write the final status, then remove the object
    };

    Kind kind;
    std::size_t container = 0;
    int signal = 0;
    std::uint32_t instance = 0;
    ProbeKind probe = ProbeKind::kStartup;
    HookKind hook = HookKind::kPostStart;
    kube::EventType event_type = kube::EventType::kNormal;
    std::string reason;
    std::string message;

    friend bool operator==(const PodAction&, const PodAction&) = default;
};
using PodActions = std::vector<PodAction>;

/// One pod's life, decided: what happened goes in, what is to be done comes out, and facts() says
/// what the status is made of. No I/O, no clock.
///
///     sandbox:    absent -> creating -> ready -> ending -> absent
///     container:  waiting -> starting -> (postStart hook) -> running -> terminated
///                    ^                                                      |
///                    +---------------------- (back-off) --------------------+
///
/// Once `facts().ending`, nothing starts any more: the pod's work is done, its time is up, or it is
/// deleted. Its containers are stopped together, then its sidecars from the last to the first, then
/// the sandbox goes.
///
/// Containers are addressed by their index in facts().containers: init containers first.
class PodMachine {
  public:
    struct Now {
        Instant mono;
        WallTime wall;
    };

    /// `lifecycles`: of each container, in the order of facts().containers; missing ones have
    /// neither probes nor hooks.
    PodMachine(const kube::Pod& pod, std::vector<ContainerLifecycle> lifecycles, std::string pod_ip,
               std::string host_ip, Now now);

    PodActions start(Now now) { return advance(now); }
    /// Instead, for a pod that another process had and whose processes are gone: what had ended
    /// stays ended, what ran was killed, and the rest follows from the restart policy.
    PodActions resume(const kube::PodStatus& earlier, Now now);
    /// Instead, for a pod that another process had and whose sandbox goes on: what happened since
    /// its last status happens now. `found`: of each container, in the order of
    /// facts().containers.
    PodActions take_over(const kube::PodStatus& earlier,
                         const std::vector<RecoveredContainer>& found, Now now);
    PodActions sandbox_ready(Now now);
    /// It could not be made; tried again later. `reason` is that of the Event.
    PodActions sandbox_failed(std::string reason, std::string message, Now now);
    /// All processes of the pod are gone, because we killed them or because somebody else did.
    PodActions sandbox_gone(Now now);
    PodActions container_started(std::size_t index, std::string container_id, Now now);
    /// What the container needs is not there; tried again later.
    PodActions config_failed(std::size_t index, std::string message, Now now);
    PodActions start_failed(std::size_t index, std::string message, Now now);
    PodActions container_exited(std::size_t index, ContainerEnd end, Now now);
    /// Results for an instance that has ended are ignored.
    PodActions probe_ended(std::size_t index, std::uint32_t instance, ProbeKind probe,
                           CheckResult result, Now now);
    PodActions hook_ended(std::size_t index, std::uint32_t instance, HookKind hook,
                          CheckResult result, Now now);
    /// The object has a deletion timestamp.
    PodActions deletion_requested(Duration grace, Now now);
    /// spec.activeDeadlineSeconds, which may be set and shortened while the pod runs.
    PodActions deadline_changed(std::optional<std::int64_t> seconds, Now now);
    /// Time passed; call at wake_at() or any time.
    PodActions tick(Now now) { return advance(now); }

    /// When tick() is to be called, if nothing happens before.
    std::optional<Instant> wake_at() const;
    const PodFacts& facts() const { return facts_; }
    const ContainerLifecycle& lifecycle(std::size_t index) const { return lifecycles_[index]; }
    std::string phase() const { return pod_phase(facts_); }
    /// Terminal, and nothing of it runs.
    bool finished() const;

  private:
    enum class Sandbox { kAbsent, kCreating, kReady, kEnding };
    enum class Stage { kIdle, kStarting, kPostStart, kRunning };
    struct Progress {
        Stage stage = Stage::kIdle;
        std::uint32_t instance = 0;  ///< counts starts
        bool counts_as_restart = false;
        bool start_again = false;  ///< ended by us for a probe or a hook
        bool was_started = false;  ///< in this sandbox: its successors need not wait any more
        Instant retry_at{};
        Instant begun{};
        Instant finished{};
        CrashBackoff backoff;
        std::optional<ContainerProbes> probes;
        std::optional<ContainerStop> stop;
    };

    void recall_earlier(const kube::PodStatus& earlier, Now now);
    void recall_container(std::size_t index, Now now);
    void take_over_container(std::size_t index, const RecoveredContainer& found, Now now,
                             PodActions& actions);
    static Termination how(ContainerEnd ended);
    void fail_start(std::size_t index, std::string message, Now now, PodActions& actions);
    PodActions advance(Now now);
    void advance_containers(Now now, PodActions& actions);
    void advance_container(std::size_t index, Now now, PodActions& actions);
    void advance_stops(Now now, PodActions& actions);
    void advance_end(Now now, PodActions& actions);
    void run_probes(Now now, PodActions& actions);
    void start_container(std::size_t index, PodActions& actions);
    void count_start(std::size_t index, Now now);
    void begin_running(std::size_t index);
    void end_container(std::size_t index, Termination end, Now now);
    /// What init containers prepared may have gone with the sandbox.
    void repeat_init_containers();
    /// Kills an instance that a probe or a hook found wanting.
    void kill_unfit(std::size_t index, const std::string& why, std::optional<Duration> grace,
                    Now now, PodActions& actions);
    void begin_end(Duration grace, Now now, PodActions& actions);
    void stop_container(std::size_t index, Instant deadline, Now now, PodActions& actions);
    void take_step(std::size_t index, ContainerStop::Step step, PodActions& actions);
    void refresh(std::size_t index);
    bool busy(std::size_t index) const { return progress_[index].stage != Stage::kIdle; }
    bool alive(std::size_t index) const {
        return busy(index) && progress_[index].stage != Stage::kStarting;
    }
    bool any_busy() const;
    bool work_done() const;
    bool restarts(std::size_t index) const;
    bool may_restart(std::size_t index) const;
    std::optional<Instant> wake_of(std::size_t index) const;

    std::string label_;  ///< "pod_namespace(uid)", as messages name it
    std::string restart_policy_;
    Duration grace_;
    Instant accepted_;
    std::optional<Instant> active_until_;
    PodFacts facts_;
    std::vector<ContainerLifecycle> lifecycles_;
    std::vector<Progress> progress_;
    Sandbox sandbox_ = Sandbox::kAbsent;
    Instant sandbox_retry_at_{};
    int sandbox_failures_ = 0;
    Instant end_by_{};  ///< once ending
    bool forced_ = false;
    bool deletion_requested_ = false;
    bool deletion_sent_ = false;
};

}  // namespace muster::runtime
