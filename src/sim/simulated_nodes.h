#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/transport/transport.h"
#include "sim/ledger/fault_windows.h"
#include "sim/pod_life.h"
#include "sim/pod_program.h"

namespace muster::sim {

struct NodesOptions {
    int nodes = 4;
    int parallel_writes = 64;
    Duration scheduling_delay{};  ///< from a pod's appearance to its binding
    /// A pod that ended before its Running was written is still reported as Running first. Real
    /// kubelets skip it.
    bool report_every_phase = true;
    /// After this silence of a node no pod is bound to it,
    Duration unschedulable_after = std::chrono::seconds(40);
    /// its pods are deleted, as the taint manager does (they stay, since no kubelet confirms),
    Duration evict_after = std::chrono::seconds(340);
    /// and the node is taken out: the pod collector marks them Failed and removes them.
    Duration remove_after = std::chrono::seconds(600);
    /// Before the second restart in place, doubled for each that follows, as kubelets wait.
    Duration crash_backoff = std::chrono::seconds(10);
    Duration longest_crash_backoff = std::chrono::seconds(300);
};

/// Stands in for scheduler, kubelets, taint manager and pod collector: binds pods through the API,
/// lets them live as `life` says, or as a program does that `start_program` has for them, reports
/// their status and ends them when they are deleted. Everything it does goes through the transport,
/// so faults can be put in between.
///
/// One change of a pod costs what that pod needs; there is no coroutine and no timer of its own for
/// a pod that only lives. Reports carry the pod's uid, so none reaches a pod of the same name.
///
/// start() returns once it has seen what there is; stop() ends all work. Thread: one loop.
class SimulatedNodes {
  public:
    /// Of the start number `start` (from 0) of a pod's containers. Must be pure.
    using Life = std::function<PodLife(const PodIdentity& pod, int start)>;

    SimulatedNodes(asio::any_io_executor executor, kube::Transport& transport, Clock& clock,
                   Rng& rng, Life life, NodesOptions options = {}, StartProgram start_program = {});
    ~SimulatedNodes();

    Task<void> start();
    /// Programs are killed first.
    Task<void> stop();

    int count() const;
    /// The containers are gone at once and nothing is reported any more.
    void kill_node(int node);
    /// The containers live on, but nothing is reported and nothing is heard.
    void silence_node(int node);
    /// After either: after a death, each start that was running ends with 137 now.
    void revive_node(int node);
    bool node_is_up(int node) const;
    /// What was wrong with it, and when.
    const FaultWindows& faults_of(int node) const;
    /// Every report of this node goes out so much later.
    void delay_reports(int node, Duration delay);

    // Each of these names a pod "namespace/name" and is false when no such pod runs.
    /// Ends the containers as a kubelet under memory pressure does: Failed, Evicted, no exit code.
    bool evict(const std::string& pod);
    /// The containers end with this code, now.
    bool crash(const std::string& pod, std::int32_t exit_code);
    /// Pods that run on nodes that are up, sorted.
    std::vector<std::string> running() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::sim
