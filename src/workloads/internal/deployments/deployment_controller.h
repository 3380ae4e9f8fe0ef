#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/async/side_thread.h"
#include "kube/client/controller.h"
#include "kube/client/event_recorder.h"
#include "kube/client/informer.h"
#include "workloads/internal/deployments/deployment_plan.h"
#include "workloads/internal/deployments/replica_set_table.h"
#include "workloads/internal/pods/controlled.h"
#include "workloads/internal/pods/pod_table.h"

namespace muster::workloads {

/// Leads each Deployment from one template to the next by its ReplicaSets: reads it and them, asks
/// plan_deployment() and carries the plan out.
///
/// Everything that it refers to outlives the group's tasks. Thread: the loop of the group.
class DeploymentController {
  public:
    DeploymentController(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks,
                         ReplicaSetTable& sets, PodTable& pods, SideThread* side_thread);

    /// A pod of this ReplicaSet has changed; it has so many.
    void pod_changed(const kube::NamespacedName& set, std::size_t pods);
    /// Begins to watch Deployments.
    void watch(TaskGroup& tasks) { deployments_.start(tasks); }
    Task<void> wait_synced() { return deployments_.wait_synced(); }
    /// Once Deployments and ReplicaSets are known.
    void start();

  private:
    /// Of a Deployment only its key is kept.
    struct Known {};

    Task<bool> reconcile(std::string key);
    Task<std::optional<std::vector<kube::ObjectPtr>>> read_sets(kube::NamespacedName name,
                                                                std::string uid);
    Task<bool> carry_out(kube::ObjectPtr deployment, DeploymentPlan plan);
    Task<bool> change_sets(const Owner& owner, DeploymentPlan& plan);
    Task<bool> make_set(kube::ObjectPtr deployment, DeploymentPlan& plan);
    Task<bool> write_revision(Owner owner, std::string revision);
    void tell_scaled(const Owner& owner, const DeploymentPlan& plan);

    kube::Client& client_;
    Clock& clock_;
    SideThread* const side_thread_;  ///< for large Deployments; may be null
    ReplicaSetTable& sets_;
    PodTable& pods_;
    kube::EventRecorder events_;
    kube::Informer<Known> deployments_;
    kube::Controller controller_;
};

}  // namespace muster::workloads
