#pragma once

#include <string>

#include "base/async/side_thread.h"
#include "kube/client/controller.h"
#include "kube/client/event_recorder.h"
#include "workloads/internal/deployments/replica_set_plan.h"
#include "workloads/internal/deployments/replica_set_table.h"
#include "workloads/internal/pods/pod_table.h"
#include "workloads/internal/pods/pod_writer.h"

namespace muster::workloads {

/// Keeps as many pods of each ReplicaSet as its spec says.
///
/// Everything that it refers to outlives the group's tasks. Thread: the loop of the group.
class ReplicaSetController {
  public:
    ReplicaSetController(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks,
                         ReplicaSetTable& sets, PodTable& pods, SideThread* side_thread);

    /// A pod of this ReplicaSet has changed; it has so many.
    void pod_changed(const kube::NamespacedName& set, std::size_t pods);
    /// Once the ReplicaSets are known.
    void start();

  private:
    Task<bool> reconcile(std::string key);
    Task<std::string> change_pods(kube::ObjectPtr set, ReplicaChange change);

    kube::Client& client_;
    Clock& clock_;
    SideThread* const side_thread_;  ///< for large ReplicaSets; may be null
    PodTable& pods_;
    kube::EventRecorder events_;
    PodWriter writer_;
    kube::Controller controller_;
};

}  // namespace muster::workloads
