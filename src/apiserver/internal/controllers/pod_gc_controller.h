#pragma once

#include <map>
#include <optional>
#include <set>

#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// From when on a pod that is being deleted may go although nobody has said that its processes have
/// ended: the end of its grace. nullopt: it is not being deleted, or somebody will say so. Pure.
std::optional<WallTime> may_go_without_its_node(const json::object& pod, bool node_exists);

/// Removes pods that are being deleted and whose node is none: no kubelet will confirm their end,
/// as the pod collector of the controller manager knows. Pods that nobody deletes stay as they are.
/// A server that knows of no node at all can't tell which are missing, and removes nothing.
///
/// Thread: the server's loop; its work runs in the server's task group.
class PodGCController {
  public:
    PodGCController(ServerState& state, Writer& writer);

    /// Every committed change.
    void observe(const store::StoreChange& change);
    /// An object that was there at the start, when all are in the cache.
    void take_up(const store::StoreKey& key, const store::ObjectText& object);

  private:
    bool node_exists(const std::string& name) const;
    void look_at_pods_of(const std::string& node);
    Task<StatusResult<void>> look_at(ObjectKey key);
    void look_again(ObjectKey key, WallTime when);
    void arm();
    Task<void> wake_at(WallTime when);

    ServerState& state_;
    Writer& writer_;
    std::map<WallTime, std::set<ObjectKey>> graces_;  ///< by their end
    WallTime next_wake_ = WallTime::max();            ///< the earliest wake_at() that is under way
    ControllerQueue<ObjectKey> work_;
};

}  // namespace muster::apiserver
