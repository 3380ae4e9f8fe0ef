#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/async/task_group.h"
#include "runtime/internal/node/recovered_pods.h"
#include "runtime/internal/pod/node_context.h"
#include "runtime/internal/pod/pod_worker.h"
#include "runtime/internal/usage/usage_sample.h"

namespace muster::runtime {

/// The workers of a node's pods: one for each pod bound to it, until the pod's object and its
/// processes are gone. Thread: the loop.
class PodWorkers {
  public:
    /// `recovered`: pods of an earlier process, each of which its worker takes over.
    PodWorkers(NodeContext& node, TaskGroup& tasks, RecoveredPods recovered)
        : node_(node), tasks_(tasks), recovered_(std::move(recovered)) {}

    /// Reserves the addresses, devices and cgroups of recovered pods, before other pods get any.
    void reserve_for_recovered_pods();
    /// Ends the recovered pods that no worker has taken over, once all pods are known.
    void end_orphans(const std::function<bool(const PodName&)>& is_known);

    /// The pod's object is new or has changed.
    void update(const std::shared_ptr<const kube::Pod>& pod);
    /// The pod's object is gone.
    void end(const std::string& uid);
    /// Kills all pods, and returns when nothing of them is left.
    Task<void> stop();

    /// Null if there is none.
    PodWorker* find(const std::string& namespace_, const std::string& pod) const;
    /// What the pods' containers have used so far.
    UsageSample sample_usage() const;

  private:
    Task<void> finish(PodWorker* worker);

    NodeContext& node_;
    TaskGroup& tasks_;
    RecoveredPods recovered_;                                    ///< not taken over yet
    std::map<std::string, std::unique_ptr<PodWorker>> workers_;  ///< by uid
    /// Their objects are gone, their processes are not yet.
    std::map<PodWorker*, std::unique_ptr<PodWorker>> ending_;
};

}  // namespace muster::runtime
