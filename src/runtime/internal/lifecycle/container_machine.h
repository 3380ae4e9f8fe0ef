#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/internal/lifecycle/check_result.h"
#include "runtime/internal/lifecycle/container_stop.h"
#include "runtime/internal/lifecycle/crash_backoff.h"
#include "runtime/internal/lifecycle/lifecycle.h"
#include "runtime/internal/lifecycle/pod_action.h"
#include "runtime/internal/lifecycle/pod_status.h"
#include "runtime/internal/lifecycle/recovered_container.h"

namespace muster::runtime {

/// Terms of a pod's spec that apply to all of its containers.
struct PodTerms {
    std::string label;  ///< "pod_namespace(uid)", as messages name it
    std::string restart_policy;
    Duration grace;
};

/// One container's life within its pod's, decided: its instances one after the other, their probes
/// and hooks, and when the next one starts. What happened is written into the container's record of
/// the pod's facts. No I/O, no clock.
///
///     idle -> starting -> (postStart hook) -> running -> idle
///
/// Once `facts.ending`, nothing starts any more.
class ContainerMachine {
  public:
    /// `pod` and `facts` outlive it.
    ContainerMachine(const PodTerms& pod, PodFacts& facts, std::size_t index,
                     ContainerLifecycle lifecycle)
        : pod_(pod), facts_(facts), index_(index), lifecycle_(std::move(lifecycle)) {}

    const ContainerLifecycle& lifecycle() const { return lifecycle_; }
    /// It has a process, or is about to.
    bool busy() const { return stage_ != Stage::kIdle; }
    bool alive() const { return busy() && stage_ != Stage::kStarting; }
    /// The containers after it wait until it runs.
    bool starting() const { return stage_ == Stage::kStarting || stage_ == Stage::kPostStart; }
    bool stopping() const { return stop_.has_value(); }
    /// Started in this sandbox: its successors need not wait any more.
    bool was_started() const { return was_started_; }
    /// It has ended, and will be started again.
    bool restarts() const;
    std::optional<Instant> wake_at() const;

    /// Starts it if it is time.
    void advance(PodTime now, PodActions& actions);
    void run_probes(PodTime now, PodActions& actions);
    void advance_stop(PodTime now, PodActions& actions);

    void started(std::string container_id, PodTime now, PodActions& actions);
    /// Something that the container needs is missing; it is tried again later.
    void config_failed(std::string message, PodTime now, PodActions& actions);
    void start_failed(std::string message, PodTime now, PodActions& actions);
    void exited(ContainerEnd end, PodTime now);
    void sandbox_failed(const std::string& message);
    void sandbox_gone(bool expected, PodTime now);
    /// False for an instance that has ended; its results are ignored.
    bool probe_ended(std::uint32_t instance, ProbeKind probe, const CheckResult& result,
                     PodTime now, PodActions& actions);
    bool hook_ended(std::uint32_t instance, HookKind hook, const CheckResult& result, PodTime now,
                    PodActions& actions);

    /// Reports the stop in an event, and begins it.
    void stop(Instant deadline, PodTime now, PodActions& actions);
    void begin_stop(Instant deadline, PodTime now, PodActions& actions);
    /// Shortens the time of a stop in progress.
    void shorten_stop(Instant deadline, PodTime now, PodActions& actions);
    /// Starts an init container that has ended once more, as what it prepared may be gone.
    void repeat();

    /// After the record was read from a status: nothing of it runs any more.
    void recover_ended(PodTime now);
    /// After the record was read from a status: what the pod's init reports happens now.
    void take_over(const RecoveredContainer& recovered, PodTime now, PodActions& actions);

  private:
    enum class Stage { kIdle, kStarting, kPostStart, kRunning };

    ContainerRecord& record() { return facts_.containers[index_]; }
    const ContainerRecord& record() const { return facts_.containers[index_]; }
    bool may_restart() const {
        return record().sidecar || (!record().ephemeral && pod_.restart_policy != "Never");
    }

    /// When the last instance ended, and how long the next one waits.
    void recover_backoff(PodTime now);
    void start(PodActions& actions);
    void count_start(PodTime now);
    void begin_running();
    void end(Termination end, PodTime now);
    /// Ends an instance that a probe or a hook found unfit.
    void kill_unfit(const std::string& why, std::optional<Duration> grace, PodTime now,
                    PodActions& actions);
    void take_step(ContainerStop::Step step, PodActions& actions);
    /// Updates the record's view of the probes.
    void refresh();
    /// The end of the earlier instance becomes its last state.
    void shelve_end();

    const PodTerms& pod_;
    PodFacts& facts_;
    std::size_t index_;
    ContainerLifecycle lifecycle_;
    Stage stage_ = Stage::kIdle;
    std::uint32_t instance_ = 0;  ///< counts starts
    bool counts_as_restart_ = false;
    bool start_again_ = false;  ///< we ended it because of a probe or a hook
    bool was_started_ = false;
    Instant retry_at_{};
    Instant begun_{};
    Instant finished_{};
    CrashBackoff backoff_;
    std::optional<ContainerProbes> probes_;
    std::optional<ContainerStop> stop_;
};

}  // namespace muster::runtime
