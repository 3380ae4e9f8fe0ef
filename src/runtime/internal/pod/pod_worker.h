#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/calendar_alarm.h"
#include "kube/objects/pod.h"
#include "runtime/internal/lifecycle/check_runner.h"
#include "runtime/internal/lifecycle/pod_machine.h"
#include "runtime/internal/pod/container_starter.h"
#include "runtime/internal/pod/fault_injection.h"
#include "runtime/internal/pod/pod_access.h"
#include "runtime/internal/pod/pod_context.h"
#include "runtime/internal/pod/pod_recovery.h"
#include "runtime/internal/pod/pod_volumes.h"
#include "runtime/internal/pod/status_writer.h"

namespace muster::runtime {

/// Carries out one pod's life: passes events to the machine and carries out its actions. Owns the
/// pod's sandbox, its files and its logs until it is destroyed; call stop() before. Thread: the
/// loop.
class PodWorker {
  public:
    PodWorker(NodeContext& node, std::shared_ptr<const kube::Pod> pod);

    void start();
    /// Used instead for a pod that is running already.
    void take_over(RecoveredPod recovered);
    /// The object changed (same uid).
    void update(std::shared_ptr<const kube::Pod> pod);
    /// Kills what is left immediately, and begins nothing more.
    void kill();
    /// The same, and waits until it is gone.
    Task<void> stop();

    const kube::Pod& pod() const { return *pod_.pod; }
    PodAccess& access() { return access_; }
    FaultInjection& faults() { return faults_; }

  private:
    void warn_about_what_has_no_effect();
    /// Ephemeral containers that the object has, and this did not know.
    void take_added_containers();
    /// Once, when the pod has ended by itself.
    void warn_about_missing_file();
    void resume();

    void perform(PodActions actions);
    void perform_one(PodAction action);
    void arm_timer();
    void arm_deadline();
    void spawn_timer(Instant at);
    Task<void> wake(Instant at);

    Task<void> create_sandbox();
    Task<Result<void>> prepare_pod();
    /// For a pod that asks for name servers, search domains or options of its own.
    Result<void> write_resolv_conf();
    void sandbox_failed(const char* reason, std::string message);
    Task<void> take_over_sandbox(Result<void> files);
    Task<Result<void>> prepare_recovered_pod(Result<void> files);
    void recovery_finished();
    void count_launches();
    Task<void> read_reports();
    void handle(pod_init::Report report);
    void handle_container(ContainerRun& run, pod_init::Report report);
    void sandbox_ended();

    Task<void> start_container(std::size_t index);
    void begin_check(const PodAction& action);
    Task<void> run_check(PodAction action, Handler handler, std::optional<Duration> limit);
    void begin_deletion(Duration pause);
    Task<void> delete_pod(Duration pause);
    void check_ended(const PodAction& action, const CheckResult& result);
    void give_up(const std::string& what);

    PodContext pod_;
    StatusWriter status_;
    PodVolumes volumes_;
    ContainerStarter starter_;
    PodRecovery recovery_;
    PodAccess access_;
    FaultInjection faults_;
    CheckRunner checks_;
    std::optional<Instant> timer_at_;
    CalendarAlarm deadline_;
    bool keeps_deadline_ = false;
    bool reads_reports_ = false;
    Signal sandbox_ended_;
    std::string setup_error_;
    bool ended_before_ = false;  ///< before this process began
    bool looked_for_file_ = false;
};

}  // namespace muster::runtime
