#include "apiserver/internal/volumes/volume_protection.h"

#include <utility>

#include "apiserver/internal/claims/claim_admission.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/document.h"

namespace muster::apiserver {

namespace {

const std::string kPods = "pods";
const std::string kClaimsProtected = "persistentvolumeclaims";
const std::string kVolumesProtected = "persistentvolumes";
constexpr std::size_t kFinalizerSpare = 512;

}  // namespace

std::set<std::string> claims_used_by(const json::object& pod) {
    std::set<std::string> claims;
    const json::object& spec = child(pod, "spec");
    if (string_at(spec, "nodeName").empty()) return claims;
    for (const json::object* volume : objects_at(spec, "volumes")) {
        if (const json::object* source = object_at(*volume, "persistentVolumeClaim"))
            claims.emplace(string_at(*source, "claimName"));
        else if (volume->contains("ephemeral"))
            claims.insert(fmt::format("{}-{}", name_of(pod), string_at(*volume, "name")));
    }
    return claims;
}

VolumeProtection::VolumeProtection(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("volumes in use", state.tasks, state.clock,
             [this](NamespacedName key) { return reconcile(std::move(key)); }) {}

void VolumeProtection::recover(const StartingObject& object) {
    const NamespacedName key{object.key.namespace_, object.key.name};
    if (object.key.resource == kClaimsProtected || object.key.resource == kVolumesProtected)
        return queue_.add(key);
    if (object.key.resource != kPods) return;
    // Most pods use none, and making a tree of each takes long.
    const std::string_view text = object.cached.object->text();
    if (text.find("\"persistentVolumeClaim\"") != std::string_view::npos ||
        text.find("\"ephemeral\"") != std::string_view::npos)
        put_pod(key, &object.cached.tree()->get_object());
}

void VolumeProtection::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    const NamespacedName key{change.key.namespace_, change.key.name};
    if (change.key.resource == kPods)
        put_pod(key, change.object == nullptr ? nullptr : &change.object->get_object());
    else if (change.object != nullptr &&
             (change.key.resource == kClaimsProtected || change.key.resource == kVolumesProtected))
        queue_.add(key);
}

void VolumeProtection::put_pod(const NamespacedName& key, const json::object* pod) {
    std::set<std::string> now = pod == nullptr ? std::set<std::string>() : claims_used_by(*pod);
    const auto known = claims_of_.find(key);
    if (known == claims_of_.end() ? now.empty() : known->second == now) return;
    if (known != claims_of_.end()) {
        for (const std::string& name : known->second) {
            const NamespacedName claim{key.namespace_, name};
            users_[claim].erase(key.name);
            if (users_[claim].empty()) users_.erase(claim);
            queue_.add(claim);
        }
        claims_of_.erase(known);
    }
    for (const std::string& name : now) users_[{key.namespace_, name}].insert(key.name);
    if (!now.empty()) claims_of_.emplace(key, std::move(now));
}

Task<StatusResult<void>> VolumeProtection::reconcile(NamespacedName key) {
    const bool volume = key.namespace_.empty();
    const std::string& resource = volume ? kVolumesProtected : kClaimsProtected;
    const CachedObject* found = state_.cache.find(resource, key.namespace_, key.name);
    if (found == nullptr) co_return StatusResult<void>();
    const kube::ObjectPtr object = found->tree();
    const json::object& fields = object->get_object();
    const bool held = has_finalizer(fields, volume ? kVolumeProtection : kClaimProtection);
    const bool used =
        volume ? string_at(child(fields, "status"), "phase") == "Bound" : users_.contains(key);
    if (!is_deleting(fields) && !held) co_return co_await hold(resource, std::move(key), true);
    if (is_deleting(fields) && held && !used)
        co_return co_await hold(resource, std::move(key), false);
    co_return StatusResult<void>();
}

Task<StatusResult<void>> VolumeProtection::hold(std::string resource, NamespacedName key,
                                                bool held) {
    const DefPtr def = state_.registry.find("v1", resource);
    const char* finalizer = resource == kVolumesProtected ? kVolumeProtection : kClaimProtection;
    Writer::Change change = [def, finalizer,
                             held](const json::value& current) -> StatusResult<NextState> {
        // Whoever deletes an object may not have one added any more.
        if (is_deleting(current.get_object()) == held) return NextState{};
        kube::Document next(current, kFinalizerSpare);
        if (held)
            add_finalizer(next.object(), finalizer);
        else
            remove_finalizer(next.object(), finalizer);
        return settle(*def, current, std::move(next));
    };
    co_return done_unless(
        co_await writer_.rewrite(def, key.namespace_, key.name, std::move(change), {.pure = true}),
        {Code::kNotFound, Code::kTooLarge});
}

}  // namespace muster::apiserver
