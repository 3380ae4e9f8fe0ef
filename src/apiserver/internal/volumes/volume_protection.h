#pragma once

#include <map>
#include <set>
#include <string>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"
#include "kube/values/namespaced_name.h"

namespace muster::apiserver {

using kube::NamespacedName;

/// The claims that a pod uses, by their names. A pod without a node uses none: no node starts one
/// with a claim that is being deleted. Pure.
std::set<std::string> claims_used_by(const json::object& pod);

/// Holds claims that are deleted as long as a pod uses them, and volumes as long as a claim is bound
/// to them: the controllers pvc-protection and pv-protection. What has no finalizer for it yet, as
/// it is older, gets one.
class VolumeProtection final : public Controller {
  public:
    VolumeProtection(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    /// `pod`: null if it is gone.
    void put_pod(const NamespacedName& key, const json::object* pod);
    /// No namespace: a volume.
    Task<StatusResult<void>> reconcile(NamespacedName key);
    Task<StatusResult<void>> hold(std::string resource, NamespacedName key, bool held);

    ServerState& state_;
    Writer& writer_;
    std::map<NamespacedName, std::set<std::string>> claims_of_;  ///< by pod
    std::map<NamespacedName, std::set<std::string>> users_;      ///< the pods of each claim
    ControllerQueue<NamespacedName> queue_;
};

}  // namespace muster::apiserver
