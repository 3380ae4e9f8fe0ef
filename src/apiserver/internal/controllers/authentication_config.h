#pragma once

#include <string>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Posts the ConfigMap extension-apiserver-authentication, from which servers that extend this one
/// learn by what authority its clients are known, and by what authority and headers this server
/// is. Does nothing on a server without an authority.
Task<Result<void>> post_authentication_config(ServerState& state, Writer& writer);

/// Restores what is needed of it if it is changed or deleted.
class AuthenticationConfigController final : public Controller {
  public:
    AuthenticationConfigController(ServerState& state, Writer& writer);

    void recover(const StartingObject&) override {}
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    Task<StatusResult<void>> reconcile(std::string name);

    ServerState& state_;
    Writer& writer_;
    ControllerQueue<std::string> queue_;
};

}  // namespace muster::apiserver
