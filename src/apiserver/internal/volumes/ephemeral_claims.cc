#include "apiserver/internal/volumes/ephemeral_claims.h"

#include <fmt/format.h>

#include <utility>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

const std::string kPodsWithClaims = "pods";
const kube::ResourceType kClaimOfPod{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"};

bool has_ephemeral_volumes(const json::object& pod) {
    for (const json::object* volume : objects_at(child(pod, "spec"), "volumes"))
        if (volume->contains("ephemeral")) return true;
    return false;
}

}  // namespace

std::vector<json::object> ephemeral_claims(const json::object& pod) {
    std::vector<json::object> claims;
    for (const json::object* volume : objects_at(child(pod, "spec"), "volumes")) {
        const json::object* source = object_at(*volume, "ephemeral");
        if (source == nullptr) continue;
        const json::object& wanted = child(*source, "volumeClaimTemplate");
        const json::object& meta = child(wanted, "metadata");
        json::object metadata{
            {"name", fmt::format("{}-{}", name_of(pod), string_at(*volume, "name"))},
            {"ownerReferences", json::array{json::object{{"apiVersion", "v1"},
                                                         {"kind", "Pod"},
                                                         {"name", name_of(pod)},
                                                         {"uid", uid_of(pod)},
                                                         {"controller", true},
                                                         {"blockOwnerDeletion", true}}}}};
        for (const char* key : {"annotations", "labels"})
            if (const json::object* given = object_at(meta, key)) metadata[key] = *given;
        claims.push_back({{"metadata", std::move(metadata)}, {"spec", child(wanted, "spec")}});
    }
    return claims;
}

std::optional<std::string> pod_of_claim(const json::object& claim) {
    for (const json::object* owner : objects_at(metadata_of(claim), "ownerReferences"))
        if (bool_at(*owner, "controller") && string_at(*owner, "kind") == "Pod")
            return std::string(string_at(*owner, "name"));
    return std::nullopt;
}

EphemeralClaims::EphemeralClaims(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("claims of pods", state.tasks, state.clock,
             [this](NamespacedName key) { return reconcile(std::move(key)); }) {}

void EphemeralClaims::recover(const StartingObject& object) {
    // Most pods have none, and making a tree of each takes long.
    if (object.key.resource == kPodsWithClaims &&
        object.cached.object->text().find("\"ephemeral\"") != std::string_view::npos)
        queue_.add({object.key.namespace_, object.key.name});
}

void EphemeralClaims::observe(const store::StoreChange& change, const kube::ObjectPtr& before) {
    if (change.key.resource == kPodsWithClaims) {
        if (change.object != nullptr && has_ephemeral_volumes(change.object->get_object()))
            queue_.add({change.key.namespace_, change.key.name});
    } else if (change.key.resource == kClaimOfPod.qualified() && change.object == nullptr &&
               before != nullptr) {
        if (auto pod = pod_of_claim(before->get_object()))
            queue_.add({change.key.namespace_, *std::move(pod)});
    }
}

Task<StatusResult<void>> EphemeralClaims::reconcile(NamespacedName key) {
    const CachedObject* found = state_.cache.find(kPodsWithClaims, key.namespace_, key.name);
    if (found == nullptr) co_return StatusResult<void>();
    const kube::ObjectPtr pod = found->tree();
    if (is_deleting(pod->get_object())) co_return StatusResult<void>();
    for (json::object& claim : ephemeral_claims(pod->get_object())) {
        const std::string name(name_of(claim));
        if (state_.cache.find(kClaimOfPod.qualified(), key.namespace_, name) != nullptr) continue;
        // What a quota or a policy refuses is tried again with the pod's next change.
        CO_TRY_VOID(
            done_unless(co_await writer_.create(kClaimOfPod, key.namespace_, std::move(claim)),
                        {Code::kAlreadyExists, Code::kForbidden, Code::kInvalid, Code::kNotFound}));
    }
    co_return StatusResult<void>();
}

}  // namespace muster::apiserver
