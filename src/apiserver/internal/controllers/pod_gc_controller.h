#pragma once

#include <map>
#include <optional>
#include <set>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// When a terminating pod may be removed although no kubelet has confirmed that its processes
/// ended: at the end of its grace period. nullopt: it is not being deleted, or its node will
/// confirm. Pure.
std::optional<WallTime> may_go_without_its_node(const json::object& pod, bool node_exists);

/// Removes terminating pods whose node does not exist, since no kubelet will confirm their end,
/// like the pod garbage collector of the controller manager. Pods that are not being deleted stay
/// as they are. A server without any node can't tell which nodes are missing, and removes nothing.
class PodGCController final : public Controller {
  public:
    PodGCController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    bool node_exists(const std::string& name) const;
    void requeue_pods_of(const std::string& node);
    Task<StatusResult<void>> reconcile(NamespacedName key);

    ServerState& state_;
    Writer& writer_;
    ControllerQueue<NamespacedName> queue_;
};

}  // namespace muster::apiserver
