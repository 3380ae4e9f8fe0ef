#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/task_group.h"
#include "kube/objects/pod.h"
#include "runtime/fault_injection.h"
#include "runtime/internal/files/data_watch.h"
#include "runtime/internal/files/pod_files.h"
#include "runtime/internal/files/pod_tokens.h"
#include "runtime/internal/lifecycle/check_runner.h"
#include "runtime/internal/lifecycle/pod_execs.h"
#include "runtime/internal/lifecycle/pod_machine.h"
#include "runtime/internal/limits/pod_isolation.h"
#include "runtime/internal/pod/container_run.h"
#include "runtime/internal/pod/node_context.h"
#include "runtime/internal/pod/recovered_starts.h"
#include "runtime/internal/pod/run_id.h"
#include "runtime/internal/pod/status_writer.h"
#include "runtime/internal/streams/pod_port.h"
#include "runtime/internal/usage/process_table.h"
#include "runtime/internal/usage/usage_sample.h"

namespace muster::runtime {

/// Carries out one pod's life: feeds the machine with what happens and does what it answers. Owns
/// the pod's sandbox, its files and its logs, until it is destroyed; stop() first. Thread: the
/// loop.
class PodWorker {
  public:
    PodWorker(NodeContext& node, std::shared_ptr<const kube::Pod> pod);

    void start();
    /// Instead, for a pod that runs already.
    void take_over(RecoveredPod found);
    /// The object changed (same uid).
    void update(std::shared_ptr<const kube::Pod> pod);
    /// Kills what is left, at once, and begins nothing more.
    void kill();
    /// The same, and waits until it is gone.
    Task<void> stop();

    const kube::Pod& pod() const { return *pod_; }

    /// The log of one container, with the API's errors.
    Result<std::unique_ptr<kube::TextStream>> logs(const kube::LogOptions& options);
    /// A command in a container that runs, or without one its program, with the API's errors. The
    /// session may outlive this.
    Result<std::unique_ptr<kube::CommandSession>> exec(const kube::CommandOptions& options);
    /// The way to one of its ports, while it runs.
    Result<PodPort> port(std::uint16_t number);
    /// What its containers that run have used up.
    std::vector<UsageSample::Container> used(const ProcessTable& processes) const;

    // What Node's functions of these names do.
    Result<pid_t> signal(PodSignal signal);
    Result<void> begin_fault(PodFault fault);
    Result<void> end_fault(PodFault fault);

  private:
    PodMachine::Now now() const { return {node_.clock.now(), node_.clock.wall_now()}; }
    const kube::Container& container(std::size_t index) const;

    void resume();
    void perform(PodActions actions);
    void perform_one(PodAction action);
    void record(kube::EventType type, std::string reason, std::string message);
    void arm_timer();
    Task<void> wake(Instant at);

    Task<void> create_sandbox();
    Task<Result<void>> prepare_pod();
    Task<Result<void>> fetch_mounted_data();
    Task<Result<void>> fill_volumes(bool in_use);
    VolumeOptions volume_options();
    bool has_ended() const;
    /// As long as the pod has not ended.
    Task<void> keep_tokens_fresh();
    void mounted_data_changed();
    Task<void> rewrite_data();
    Result<pod_init::PrivateFiles> private_files() const;
    Task<void> take_over_sandbox();
    Task<Result<void>> prepare_recovered_pod();
    void all_is_told();
    RecoveredContainer take_over_container(std::size_t index, RecoveredStarts::Start& found);
    void keep_run(std::size_t index, RunId id, bool ended);
    void count_launches();
    std::string container_id(std::uint32_t run) const;

    Task<void> read_reports();
    void handle(pod_init::Report report);
    void sandbox_ended();
    ContainerRun* find_run(std::uint32_t id, std::size_t& index);

    void begin_check(const PodAction& action);
    Task<void> run_check(PodAction action, Handler handler, std::optional<Duration> limit);
    ContainerEnd end_of(std::size_t index, const ContainerRun& run, const pod_init::Report& report);

    Task<void> start_container(std::size_t index);
    EnvironmentInput environment_input() const;
    Result<pod_init::ContainerStart> plan(std::size_t index);
    std::map<std::string, std::string, std::less<>> addresses_for(std::size_t index);
    void warn_about_tmp(const pod_init::ContainerStart& start);
    Task<void> delete_pod();
    Result<const ContainerRun*> running_program() const;
    std::vector<pid_t> processes() const;
    void pause();
    kube::PodStatus current_status() const;

    NodeContext& node_;
    std::shared_ptr<const kube::Pod> pod_;
    PodFiles files_;
    PodIsolation isolation_;
    TaskGroup tasks_;
    StatusWriter status_;
    PodMachine machine_;
    KeyValueObjects config_maps_;
    KeyValueObjects secrets_;
    PodTokens tokens_;
    ReadyVolumes volumes_;
    std::unique_ptr<DataWatch::Following> following_;
    std::unique_ptr<PodSandbox> sandbox_;
    std::vector<std::vector<std::unique_ptr<ContainerRun>>> runs_;  ///< by container, oldest first
    std::vector<std::uint32_t> launches_;  ///< by container, in the pod's life
    CheckRunner checks_;
    PodExecs execs_;
    std::optional<RecoveredStarts>
        found_;  ///< of a pod that is being taken over, until all is told
    std::optional<Instant> timer_at_;
    Signal sandbox_ended_;
    std::string setup_error_;
    std::set<PodFault> faults_;  ///< that were begun and not ended
    bool stopping_ = false;
    bool ended_before_ = false;  ///< before this process began
    bool warned_about_tmp_ = false;
    bool keeps_tokens_ = false;
    bool has_volumes_ = false;
    /// A ConfigMap, a Secret or a field of the pod has changed since it was written into a volume.
    bool data_is_stale_ = false;
    bool rewrites_data_ = false;
};

}  // namespace muster::runtime
