#pragma once

#include <string>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Checks the expressions of ValidatingAdmissionPolicies against the types of the kinds that they
/// are about, and writes what is doubtful into their status: once of each generation, as the
/// controller validatingadmissionpolicy-status does. What it finds changes nothing else.
class PolicyStatusController final : public Controller {
  public:
    PolicyStatusController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    Task<StatusResult<void>> reconcile(std::string name);

    ServerState& state_;
    Writer& writer_;
    ControllerQueue<std::string> queue_;
};

}  // namespace muster::apiserver
