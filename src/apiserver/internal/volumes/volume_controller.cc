#include "apiserver/internal/volumes/volume_controller.h"

#include <utility>

#include "apiserver/objects/json_access.h"
#include "kube/values/document.h"

namespace muster::apiserver {

namespace {

const kube::ResourceType kClaimType{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"};
const kube::ResourceType kVolumeType{"", "v1", "persistentvolumes", "PersistentVolume", false};
const kube::ResourceType kClassType{"storage.k8s.io", "v1", "storageclasses", "StorageClass",
                                    false};
constexpr std::size_t kBindingSpare = 4096;

json::object directory_class() {
    return {{"metadata",
             json::object{{"name", kDirectoryClass},
                          {"annotations",
                           json::object{{"storageclass.kubernetes.io/is-default-class", "true"}}}}},
            {"provisioner", kDirectoryProvisioner},
            {"reclaimPolicy", "Retain"},
            {"volumeBindingMode", "Immediate"},
            {"allowVolumeExpansion", true}};
}

json::object claim_reference(const NamespacedName& key, const std::string& uid) {
    return {{"apiVersion", "v1"},
            {"kind", kClaimType.kind},
            {"namespace", key.namespace_},
            {"name", key.name},
            {"uid", uid}};
}

json::array modes_of(const std::vector<std::string>& modes) {
    json::array list;
    for (const std::string& mode : modes) list.emplace_back(mode);
    return list;
}

json::object storage_amount(const kube::Quantity& amount) {
    return {{"storage", amount.to_string()}};
}

/// The volume that is made for a claim: a directory of this machine.
json::object directory_volume(const NamespacedName& key, const ClaimFacts& claim,
                              const std::string& name, const std::string& class_name,
                              const std::string& directory, bool kept) {
    return {
        {"metadata", json::object{{"name", name},
                                  {"annotations", json::object{{"pv.kubernetes.io/provisioned-by",
                                                                kDirectoryProvisioner}}}}},
        {"spec", json::object{{"accessModes", modes_of(claim.access_modes)},
                              {"capacity", storage_amount(claim.request)},
                              {"claimRef", claim_reference(key, claim.uid)},
                              {"persistentVolumeReclaimPolicy", kept ? "Retain" : "Delete"},
                              {"storageClassName", class_name},
                              {"volumeMode", claim.mode},
                              {"hostPath",
                               json::object{{"path", directory}, {"type", "DirectoryOrCreate"}}}}}};
}

bool is_free(const VolumeFacts& volume) { return !volume.claim && !volume.deleting; }

}  // namespace

VolumeController::VolumeController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("claims to volumes", state.tasks, state.clock,
             [this](NamespacedName key) { return reconcile(std::move(key)); }) {}

void VolumeController::recover(const StartingObject& object) {
    const std::string& resource = object.key.resource;
    if (resource == kClaimType.qualified())
        queue_.add({object.key.namespace_, object.key.name});
    else if (resource == kVolumeType.qualified())
        put_volume(object.key.name, &object.cached.tree()->get_object());
    else if (resource == kClassType.qualified())
        put_class(object.key.name, &object.cached.tree()->get_object());
}

void VolumeController::started() { queue_.add({}); }

void VolumeController::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    const std::string& resource = change.key.resource;
    const json::object* object = change.object == nullptr ? nullptr : &change.object->get_object();
    if (resource == kClaimType.qualified())
        queue_.add({change.key.namespace_, change.key.name});
    else if (resource == kVolumeType.qualified())
        put_volume(change.key.name, object);
    else if (resource == kClassType.qualified())
        put_class(change.key.name, object);
}

void VolumeController::put_volume(const std::string& name, const json::object* volume) {
    if (const auto known = volumes_.find(name); known != volumes_.end()) {
        const VolumeFacts& before = known->second;
        if (before.claim) {
            by_claim_[*before.claim].erase(name);
            if (by_claim_[*before.claim].empty()) by_claim_.erase(*before.claim);
            // It has lost its volume, or may get another.
            queue_.add(*before.claim);
        }
        if (const auto free = free_.find(before.class_name); free != free_.end()) {
            free->second.erase(name);
            if (free->second.empty()) free_.erase(free);
        }
        volumes_.erase(known);
    }
    if (volume == nullptr) return;
    const VolumeFacts& facts = volumes_.emplace(name, volume_facts(*volume)).first->second;
    queue_.add({"", name});
    if (facts.claim) {
        by_claim_[*facts.claim].insert(name);
        queue_.add(*facts.claim);
    } else if (is_free(facts)) {
        free_[facts.class_name].insert(name);
        offer(facts);
    }
}

void VolumeController::put_class(const std::string& name, const json::object* storage_class) {
    classes_.erase(name);
    if (storage_class == nullptr) return;
    const ClassFacts& facts = classes_.emplace(name, class_facts(*storage_class)).first->second;
    for (NamespacedName& key : waiting_.of_class(name, facts.is_default))
        queue_.add(std::move(key));
}

void VolumeController::offer(const VolumeFacts& volume) {
    if (auto taker = waiting_.taker_of(volume, std::string(state_.default_storage.name())))
        queue_.add(*std::move(taker));
}

std::string VolumeController::class_of(const ClaimFacts& claim) const {
    return claim.class_name ? *claim.class_name : std::string(state_.default_storage.name());
}

bool VolumeController::is_provided(const NamespacedName& key, const ClaimFacts& claim) const {
    if (claim.mode != "Filesystem" || !claim.selector.empty()) return false;
    if (is_placed(key, state_.options.volumes)) return true;
    const std::string name = class_of(claim);
    if (name.empty()) return false;
    const auto known = classes_.find(name);
    return known == classes_.end() || known->second.provides;
}

bool VolumeController::is_kept(const NamespacedName& key, const ClaimFacts& claim) const {
    // What a flag names is the user's.
    if (is_placed(key, state_.options.volumes)) return true;
    if (claim.of_pod) return false;
    const auto known = classes_.find(class_of(claim));
    return known == classes_.end() || known->second.keeps;
}

/// A volume that names the claim: the user's, or the one that an earlier claim of this name had.
VolumeController::Choice VolumeController::choose_kept(const NamespacedName& key,
                                                       const ClaimFacts& claim) const {
    const auto kept = by_claim_.find(key);
    if (kept == by_claim_.end()) return {};
    for (const std::string& name : kept->second) {
        const VolumeFacts& volume = volumes_.at(name);
        if (volume.deleting) continue;
        const bool found_again = volume.ours && !volume.of_claim_alone;
        if (found_again || volume.claim_uid.empty() || volume.claim_uid == claim.uid)
            return {.volume = name};
    }
    return {};
}

VolumeController::Choice VolumeController::choose(const NamespacedName& key,
                                                  const ClaimFacts& claim) const {
    if (!claim.volume_name.empty()) {
        const auto named = volumes_.find(claim.volume_name);
        if (named == volumes_.end() || named->second.deleting) return {};
        const VolumeFacts& volume = named->second;
        const bool may =
            !volume.claim ||
            (*volume.claim == key && (volume.claim_uid.empty() || volume.claim_uid == claim.uid));
        return may ? Choice{.volume = volume.name} : Choice{};
    }
    if (Choice kept = choose_kept(key, claim); !kept.volume.empty()) return kept;
    const std::string class_name = class_of(claim);
    // As upstream: of those with the fewest modes the smallest.
    const auto rank = [](const VolumeFacts& volume) {
        return std::pair(volume.access_modes.size(), volume.capacity);
    };
    const VolumeFacts* best = nullptr;
    if (const auto free = free_.find(class_name); free != free_.end())
        for (const std::string& name : free->second) {
            const VolumeFacts& volume = volumes_.at(name);
            if (suits(volume, claim, class_name) && (best == nullptr || rank(volume) < rank(*best)))
                best = &volume;
        }
    if (best != nullptr) return {.volume = best->name};
    if (!is_provided(key, claim)) return {};
    return {.volume = "pvc-" + claim.uid, .made = true};
}

Task<StatusResult<void>> VolumeController::reconcile(NamespacedName key) {
    if (!key.namespace_.empty()) return reconcile_claim(std::move(key));
    if (!key.name.empty()) return reconcile_volume(std::move(key.name));
    return make_class();
}

Task<StatusResult<void>> VolumeController::make_class() {
    if (classes_.contains(kDirectoryClass)) co_return StatusResult<void>();
    co_return done_unless(co_await writer_.create(kClassType, "", directory_class()),
                          {Code::kAlreadyExists});
}

Task<StatusResult<void>> VolumeController::reconcile_volume(std::string name) {
    const auto known = volumes_.find(name);
    if (known == volumes_.end()) co_return StatusResult<void>();
    const VolumeFacts& volume = known->second;
    std::string uid;
    if (volume.claim)
        if (const CachedObject* claim = state_.cache.find(
                kClaimType.qualified(), volume.claim->namespace_, volume.claim->name))
            uid = uid_of(claim->tree()->get_object());
    const std::string phase = phase_of(volume, uid);
    if (volume.phase == phase) {
        if (phase == "Released" && volume.ours && volume.of_claim_alone && !volume.deleting)
            co_return co_await discard(volume);
        co_return StatusResult<void>();
    }
    const DefPtr def = state_.registry.find(kVolumeType.api_version(), kVolumeType.plural);
    co_return co_await rewrite(kVolumeType, {"", name},
                               [def, phase](const json::value& current) -> StatusResult<NextState> {
                                   kube::Document next(current, kBindingSpare);
                                   ensure_object(next.object(), "status")["phase"] = phase;
                                   return settle(*def, current, std::move(next));
                               });
}

Task<StatusResult<void>> VolumeController::discard(VolumeFacts volume) {
    const VolumePlaces& places = state_.options.volumes;
    // Computed as it was made: whatever the object says by now, nothing else is removed.
    if (places.discard && !is_placed(*volume.claim, places))
        places.discard(directory_of(*volume.claim, volume.claim_uid, places));
    Target target;
    target.def = state_.registry.find(kVolumeType.api_version(), kVolumeType.plural);
    target.name = volume.name;
    co_return done_unless(co_await writer_.remove(std::move(target), {}),
                          {Code::kNotFound, Code::kConflict});
}

Task<StatusResult<void>> VolumeController::reconcile_claim(NamespacedName key) {
    waiting_.erase(key);
    const CachedObject* cached =
        state_.cache.find(kClaimType.qualified(), key.namespace_, key.name);
    // A volume whose claim is gone, or is another of that name, is released.
    if (const auto volumes = by_claim_.find(key); volumes != by_claim_.end())
        for (const std::string& name : volumes->second) queue_.add({"", name});
    if (cached == nullptr) co_return StatusResult<void>();
    const ClaimFacts claim = claim_facts(cached->tree()->get_object());
    if (claim.deleting) co_return StatusResult<void>();
    if (claim.phase == "Bound" || claim.phase == "Lost")
        co_return co_await keep_bound(std::move(key), claim);
    const Choice choice = choose(key, claim);
    if (choice.volume.empty()) {
        waiting_.put(std::move(key), claim);
        co_return StatusResult<void>();
    }
    if (choice.made)
        CO_TRY_VOID(co_await make_volume(key, claim, choice.volume));
    else
        CO_TRY_VOID(co_await bind_volume(key, claim, choice.volume));
    const auto bound = volumes_.find(choice.volume);
    if (bound == volumes_.end() || bound->second.claim_uid != claim.uid) {
        // Another claim was faster, or the volume is gone. The same choice would fail again.
        if (choose(key, claim).volume == choice.volume)
            waiting_.put(std::move(key), claim);
        else
            queue_.add(std::move(key));
        co_return StatusResult<void>();
    }
    co_return co_await bind_claim(std::move(key), claim, choice.volume);
}

/// A claim whose volume is gone has lost it; one that asks for more gets more of a directory.
Task<StatusResult<void>> VolumeController::keep_bound(NamespacedName key, ClaimFacts claim) {
    const auto volume = volumes_.find(claim.volume_name);
    const DefPtr def = state_.registry.find(kClaimType.api_version(), kClaimType.plural);
    if (volume == volumes_.end()) {
        if (claim.phase == "Lost") co_return StatusResult<void>();
        co_return co_await rewrite(kClaimType, std::move(key),
                                   [def](const json::value& current) -> StatusResult<NextState> {
                                       kube::Document next(current, kBindingSpare);
                                       ensure_object(next.object(), "status")["phase"] = "Lost";
                                       return settle(*def, current, std::move(next));
                                   });
    }
    if (!volume->second.ours || volume->second.capacity >= claim.request)
        co_return StatusResult<void>();
    const json::object amount = storage_amount(claim.request);
    const DefPtr volume_def = state_.registry.find(kVolumeType.api_version(), kVolumeType.plural);
    CO_TRY_VOID(co_await rewrite(
        kVolumeType, {"", claim.volume_name},
        [def = volume_def, amount](const json::value& current) -> StatusResult<NextState> {
            kube::Document next(current, kBindingSpare);
            ensure_object(next.object(), "spec")["capacity"] = amount;
            return settle(*def, current, std::move(next));
        }));
    co_return co_await rewrite(
        kClaimType, std::move(key),
        [def, amount](const json::value& current) -> StatusResult<NextState> {
            kube::Document next(current, kBindingSpare);
            ensure_object(next.object(), "status")["capacity"] = amount;
            return settle(*def, current, std::move(next));
        });
}

Task<StatusResult<void>> VolumeController::make_volume(NamespacedName key, ClaimFacts claim,
                                                       std::string name) {
    const bool kept = is_kept(key, claim);
    json::object volume = directory_volume(
        key, claim, name, class_of(claim),
        directory_of(key, kept ? std::string() : claim.uid, state_.options.volumes), kept);
    co_return done_unless(co_await writer_.create(kVolumeType, "", std::move(volume)),
                          {Code::kAlreadyExists});
}

Task<StatusResult<void>> VolumeController::bind_volume(NamespacedName key, ClaimFacts claim,
                                                       std::string name) {
    const DefPtr def = state_.registry.find(kVolumeType.api_version(), kVolumeType.plural);
    Writer::Change change =
        [def, key, uid = claim.uid](const json::value& current) -> StatusResult<NextState> {
        const VolumeFacts facts = volume_facts(current.get_object());
        const bool another = facts.claim && *facts.claim != key;
        if (another || facts.deleting) return NextState{};
        kube::Document next(current, kBindingSpare);
        ensure_object(next.object(), "spec")["claimRef"] = claim_reference(key, uid);
        ensure_object(next.object(), "status")["phase"] = "Bound";
        return settle(*def, current, std::move(next));
    };
    co_return co_await rewrite(kVolumeType, {"", std::move(name)}, std::move(change));
}

Task<StatusResult<void>> VolumeController::bind_claim(NamespacedName key, ClaimFacts claim,
                                                      std::string volume) {
    const VolumeFacts& facts = volumes_.at(volume);
    const DefPtr def = state_.registry.find(kClaimType.api_version(), kClaimType.plural);
    json::object status{{"phase", "Bound"},
                        {"accessModes", modes_of(facts.access_modes)},
                        {"capacity", storage_amount(facts.capacity)}};
    Writer::Change change = [def, uid = claim.uid, class_name = facts.class_name, volume,
                             status](const json::value& current) -> StatusResult<NextState> {
        if (uid_of(current.get_object()) != uid) return NextState{};
        kube::Document next(current, kBindingSpare);
        json::object& spec = ensure_object(next.object(), "spec");
        spec["volumeName"] = volume;
        // As claims get the default class that is made after them.
        if (!spec.contains("storageClassName") && !class_name.empty())
            spec["storageClassName"] = class_name;
        json::object& annotations =
            ensure_object(ensure_object(next.object(), "metadata"), "annotations");
        annotations["pv.kubernetes.io/bind-completed"] = "yes";
        annotations["pv.kubernetes.io/bound-by-controller"] = "yes";
        next.object()["status"] = status;
        return settle(*def, current, std::move(next));
    };
    co_return co_await rewrite(kClaimType, std::move(key), std::move(change));
}

Task<StatusResult<void>> VolumeController::rewrite(const kube::ResourceType& type,
                                                   NamespacedName key, Writer::Change change) {
    const DefPtr def = state_.registry.find(type.api_version(), type.plural);
    co_return done_unless(
        co_await writer_.rewrite(def, key.namespace_, key.name, std::move(change), {.pure = true}),
        {Code::kNotFound, Code::kTooLarge});
}

}  // namespace muster::apiserver
