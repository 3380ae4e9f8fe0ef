#pragma once

#include <string>

#include "apiserver/internal/controllers/aggregating_roles.h"
#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Updates the rules of aggregated ClusterRoles whenever a ClusterRole that may be a part of them
/// has changed, or their own have.
class RoleAggregationController final : public Controller {
  public:
    RoleAggregationController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    Task<StatusResult<void>> reconcile(std::string name);

    ServerState& state_;
    Writer& writer_;
    AggregatingRoles aggregating_;
    ControllerQueue<std::string> queue_;
};

}  // namespace muster::apiserver
