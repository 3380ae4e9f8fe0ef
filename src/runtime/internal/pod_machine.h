#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/event_recorder.h"
#include "kube/pod.h"
#include "runtime/internal/crash_backoff.h"
#include "runtime/internal/pod_status.h"

namespace muster::runtime {

/// What the pod's shell is to do next.
struct PodAction {
    enum class Kind {
        kCreateSandbox,
        kStartContainer,  ///< container
        kSignal,          ///< container, signal
        kKillSandbox,
        kRecordEvent,  ///< event_type, reason, message
        kDeletePod,    ///< write the final status, then remove the object
    };

    Kind kind;
    std::size_t container = 0;
    int signal = 0;
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
///     container:  waiting -> (starting) -> running -> terminated -> waiting (back-off) -> ...
///
/// Containers are addressed by their index in facts().containers: init containers first.
class PodMachine {
  public:
    struct Now {
        Instant mono;
        WallTime wall;
    };

    PodMachine(const kube::Pod& pod, std::string pod_ip, std::string host_ip, Now now);

    PodActions start(Now now) { return advance(now); }
    PodActions sandbox_ready(Now now);
    /// It could not be made; tried again later. `reason` is that of the Event.
    PodActions sandbox_failed(std::string reason, std::string message, Now now);
    /// All processes of the pod are gone, because we killed them or because somebody else did.
    PodActions sandbox_gone(Now now);
    PodActions container_started(std::size_t index, std::string container_id, Now now);
    /// What the container needs is not there; tried again later.
    PodActions config_failed(std::size_t index, std::string message, Now now);
    PodActions start_failed(std::size_t index, std::string message, Now now);
    PodActions container_exited(std::size_t index, int exit_code, Now now);
    /// The object has a deletion timestamp.
    PodActions deletion_requested(Duration grace, Now now);
    /// Time passed; call at wake_at() or any time.
    PodActions tick(Now now);

    /// When tick() is to be called, if nothing happens before.
    std::optional<Instant> wake_at() const;
    const PodFacts& facts() const { return facts_; }
    std::string phase() const { return pod_phase(restart_policy_, facts_); }
    /// Terminal, and nothing of it runs.
    bool finished() const;

  private:
    enum class Sandbox { kAbsent, kCreating, kReady, kEnding };
    struct Progress {
        bool starting = false;
        bool counts_as_restart = false;
        Instant retry_at{};
        Instant finished{};
        CrashBackoff backoff;
    };

    PodActions advance(Now now);
    void advance_container(std::size_t index, Now now, PodActions& actions);
    void advance_end(Now now, PodActions& actions);
    void start_container(std::size_t index, PodActions& actions);
    void end_container(std::size_t index, Termination end, Now now);
    void kill_sandbox(PodActions& actions);
    bool busy(std::size_t index) const;
    bool any_busy() const;
    bool terminal() const;
    bool restarts(std::size_t index) const;

    std::string label_;  ///< "pod_namespace(uid)", as messages name it
    std::string restart_policy_;
    PodFacts facts_;
    std::vector<Progress> progress_;
    Sandbox sandbox_ = Sandbox::kAbsent;
    Instant sandbox_retry_at_{};
    int sandbox_failures_ = 0;
    std::optional<Instant> kill_at_;
    bool killed_ = false;
    bool deleted_ = false;
};

}  // namespace muster::runtime
