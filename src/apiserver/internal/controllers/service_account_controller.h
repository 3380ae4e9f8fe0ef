#pragma once

#include <string>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Gives every namespace what its pods need to call the server: the service account `default`; if
/// the server has a root certificate, the ConfigMap `kube-root-ca.crt`; and in the namespace
/// `default` the Service `kubernetes`. Restores them if they are deleted or changed. Without the
/// controllers of a cluster the Service is all. Does nothing on a server without a signing key.
class ServiceAccountController final : public Controller {
  public:
    ServiceAccountController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    Task<StatusResult<void>> reconcile(std::string namespace_);
    Task<StatusResult<void>> make_service();
    Task<StatusResult<void>> make(const kube::ResourceType& type, std::string namespace_,
                                  json::object object);

    ServerState& state_;
    Writer& writer_;
    ControllerQueue<std::string> queue_;
};

}  // namespace muster::apiserver
