#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/volumes/volume_facts.h"
#include "apiserver/internal/volumes/waiting_claims.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Binds claims to volumes, as the controller persistentvolume-binder does, and makes a volume for a
/// claim that no volume suits, as a provisioner of directories would: at once, as there is only one
/// node. There is a default class for claims that name none.
///
/// A volume that was made for a claim is kept when the claim is deleted, and a claim of that name
/// gets it again: the directory is the user's. But one of a class with the reclaimPolicy Delete, or
/// of a pod's ephemeral volume, goes with its claim.
class VolumeController final : public Controller {
  public:
    VolumeController(ServerState& state, Writer& writer);

    void recover(const StartingObject& object) override;
    void started() override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    /// What a claim gets. Neither: it waits.
    struct Choice {
        std::string volume;
        bool made = false;  ///< the volume has to be made
    };

    void put_volume(const std::string& name, const json::object* volume);
    void put_class(const std::string& name, const json::object* storage_class);
    /// Wakes a claim that waits for such a volume.
    void offer(const VolumeFacts& volume);
    std::string class_of(const ClaimFacts& claim) const;
    Choice choose(const NamespacedName& key, const ClaimFacts& claim) const;
    Choice choose_kept(const NamespacedName& key, const ClaimFacts& claim) const;
    bool is_provided(const NamespacedName& key, const ClaimFacts& claim) const;
    /// Whether the directory that is made for the claim outlives it.
    bool is_kept(const NamespacedName& key, const ClaimFacts& claim) const;
    /// Of a volume whose claim is gone: removes the directory, and the volume.
    Task<StatusResult<void>> discard(VolumeFacts volume);

    /// No namespace: a volume; no name either: the default class.
    Task<StatusResult<void>> reconcile(NamespacedName key);
    Task<StatusResult<void>> make_class();
    Task<StatusResult<void>> reconcile_volume(std::string name);
    Task<StatusResult<void>> reconcile_claim(NamespacedName key);
    Task<StatusResult<void>> keep_bound(NamespacedName key, ClaimFacts claim);
    Task<StatusResult<void>> make_volume(NamespacedName key, ClaimFacts claim, std::string name);
    Task<StatusResult<void>> bind_volume(NamespacedName key, ClaimFacts claim, std::string name);
    Task<StatusResult<void>> bind_claim(NamespacedName key, ClaimFacts claim, std::string volume);
    Task<StatusResult<void>> rewrite(const kube::ResourceType& type, NamespacedName key,
                                     Writer::Change change);

    ServerState& state_;
    Writer& writer_;
    std::map<std::string, VolumeFacts> volumes_;
    std::map<NamespacedName, std::set<std::string>> by_claim_;  ///< the volumes of each claim
    std::map<std::string, std::set<std::string>> free_;         ///< by class: kept for no claim
    std::map<std::string, ClassFacts> classes_;
    WaitingClaims waiting_;
    ControllerQueue<NamespacedName> queue_;
};

}  // namespace muster::apiserver
