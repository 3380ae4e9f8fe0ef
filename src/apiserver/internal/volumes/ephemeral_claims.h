#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"
#include "kube/values/namespaced_name.h"

namespace muster::apiserver {

using kube::NamespacedName;

/// The claims for the volumes of a pod with a volumeClaimTemplate, as objects to be created. Pure.
std::vector<json::object> ephemeral_claims(const json::object& pod);
/// The pod that a claim was made for. Pure.
std::optional<std::string> pod_of_claim(const json::object& claim);

/// Makes the claims of pods' ephemeral volumes, as the ephemeral-volume-controller does. The pod owns
/// them, so they are collected when it is gone. A claim of that name which is not the pod's own stays
/// as it is, and the pod waits.
class EphemeralClaims final : public Controller {
  public:
    EphemeralClaims(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    /// By the pod.
    Task<StatusResult<void>> reconcile(NamespacedName key);

    ServerState& state_;
    Writer& writer_;
    ControllerQueue<NamespacedName> queue_;
};

}  // namespace muster::apiserver
