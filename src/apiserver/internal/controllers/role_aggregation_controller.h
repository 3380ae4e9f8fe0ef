#pragma once

#include <string>

#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Keeps the roles: posts those that every server has, and puts the rules of aggregated
/// ClusterRoles together whenever a ClusterRole changed.
///
/// Thread: the server's loop; its work runs in the server's task group.
class RoleAggregationController {
  public:
    RoleAggregationController(ServerState& state, Writer& writer);

    /// Every committed change, and what was there at the start (as a creation).
    void observe(const store::StoreChange& change);

    /// Makes and completes the default roles and bindings. All are written at once.
    Task<Result<void>> post_defaults();

  private:
    Task<StatusResult<void>> post(DefPtr def, json::object expected);
    Task<void> try_to_post(DefPtr def, json::object expected,
                           std::shared_ptr<std::optional<Error>> failure);
    Task<StatusResult<void>> aggregate(std::string name);

    ServerState& state_;
    Writer& writer_;
    ControllerQueue<std::string> work_;
};

}  // namespace muster::apiserver
