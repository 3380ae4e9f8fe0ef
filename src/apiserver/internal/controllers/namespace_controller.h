#pragma once

#include <set>
#include <string>

#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Empties what is being deleted: a terminating namespace loses everything in it, a terminating
/// CustomResourceDefinition its instances. When nothing is left, it lets the object itself go.
/// Finalizers and the grace of pods are respected.
///
/// Thread: the server's loop; its work runs in the server's task group.
class NamespaceController {
  public:
    NamespaceController(ServerState& state, Writer& writer);

    /// Every committed change.
    void observe(const store::StoreChange& change);
    /// What was there at the start.
    void take_up(const store::StoreKey& key, const store::ObjectText& object);

  private:
    Task<StatusResult<void>> look_at(store::StoreKey key);
    /// Where the container's content is kept.
    std::vector<DefPtr> content_types(const store::StoreKey& container) const;
    Task<StatusResult<void>> delete_content(store::StoreKey container);
    bool is_empty(const store::StoreKey& container) const;
    Task<StatusResult<void>> report_remaining(store::StoreKey container);
    Task<StatusResult<void>> let_go(store::StoreKey container);

    ServerState& state_;
    Writer& writer_;
    std::set<std::string> swept_;  ///< uids whose content was told to go
    ControllerQueue<store::StoreKey> work_;
};

}  // namespace muster::apiserver
