#include "runtime/internal/files/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "kube/values/json_access.h"

namespace muster::runtime {

namespace {

const kube::ResourceType kClaims{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"};
const kube::ResourceType kVolumes{"", "v1", "persistentvolumes", "PersistentVolume", false};

/// A claim of the same manifest is bound within milliseconds of its creation.
constexpr Duration kFirstLook = std::chrono::milliseconds(10);
constexpr Duration kLastLook = std::chrono::milliseconds(320);

bool is_bound(const json::object& claim) {
    return kube::string_at(kube::child(claim, "status"), "phase") == "Bound";
}

/// `is_made`: another makes it for the pod, so it may not be there yet.
Task<Result<kube::ObjectPtr>> bound_claim(kube::Client& client, Clock& clock,
                                          kube::NamespacedName name, bool is_made) {
    for (Duration wait = kFirstLook;; wait *= 2) {
        auto claim = co_await client.get(kClaims, name.namespace_, name.name);
        const bool missing = !claim && claim.error().code() == Code::kNotFound;
        if (missing && is_made && wait <= kLastLook) {
            co_await clock.sleep_for(wait);
            continue;
        }
        if (missing)
            co_return Error(Code::kNotFound,
                            fmt::format("persistentvolumeclaim \"{}\" not found", name.name));
        if (!claim) co_return claim.error();
        if (is_bound((*claim)->get_object())) co_return *std::move(claim);
        if (wait > kLastLook)
            co_return Error(
                Code::kUnavailable,
                fmt::format("persistentvolumeclaim \"{}\" is not bound: no volume suits it yet "
                            "('kubectl describe pvc {}' shows what it asks for)",
                            name.name, name.name));
        co_await clock.sleep_for(wait);
    }
}

/// The directory of a volume.
Result<ClaimDirectory> directory_of(const json::object& volume, const std::string& claim) {
    const json::object& spec = kube::child(volume, "spec");
    if (const json::object* source = kube::object_at(spec, "hostPath")) {
        const std::string_view type = kube::string_at(*source, "type");
        return ClaimDirectory{.path = std::string(kube::string_at(*source, "path")),
                              .made = type.empty() || type == "DirectoryOrCreate"};
    }
    if (const json::object* source = kube::object_at(spec, "local"))
        return ClaimDirectory{.path = std::string(kube::string_at(*source, "path"))};
    return Error(Code::kUnsupported,
                 fmt::format("the volume \"{}\" of the claim \"{}\" is of a type that this machine "
                             "does not mount: start muster with --volume {}=DIR",
                             kube::name_of(volume), claim, claim));
}

/// The claim of a volume, if it has one.
std::optional<std::string> claim_of(const kube::Volume& volume, const kube::Pod& pod) {
    if (const json::object* source = kube::object_at(volume.rest, "persistentVolumeClaim"))
        return std::string(kube::string_at(*source, "claimName"));
    if (volume.rest.contains("ephemeral")) return pod.metadata.name + "-" + volume.name;
    return std::nullopt;
}

/// A claim for an ephemeral volume has to be that pod's own.
Result<void> check_owner(const json::object& claim, const kube::Pod& pod) {
    for (const json::object* owner : kube::objects_at(kube::metadata_of(claim), "ownerReferences"))
        if (kube::bool_at(*owner, "controller") &&
            kube::string_at(*owner, "uid") == pod.metadata.uid)
            return {};
    return Error(Code::kInvalid, fmt::format("PVC {}/{} was not created for pod {}/{} (pod is not "
                                             "owner)",
                                             pod.metadata.namespace_, kube::name_of(claim),
                                             pod.metadata.namespace_, pod.metadata.name));
}

const std::filesystem::path* place_of(const ClaimPlaces& places, const kube::NamespacedName& name) {
    for (const std::string& key : {name.text(), name.name})
        if (const auto found = places.find(key); found != places.end()) return &found->second;
    return nullptr;
}

}  // namespace

Task<Result<PodClaims>> find_claims(kube::Client& client, Clock& clock,
                                    std::shared_ptr<const kube::Pod> pod,
                                    const ClaimPlaces& places) {
    PodClaims found;
    for (const kube::Volume& volume : pod->spec.volumes) {
        const std::optional<std::string> claim_name = claim_of(volume, *pod);
        if (!claim_name) continue;
        const bool ephemeral = volume.rest.contains("ephemeral");
        const kube::NamespacedName name{pod->metadata.namespace_, *claim_name};
        const std::filesystem::path* place = place_of(places, name);
        ClaimDirectory directory;
        if (place != nullptr) directory.path = *place;
        // Where a flag says where it is, it need not be bound, or be there at all.
        auto claim = place == nullptr ? co_await bound_claim(client, clock, name, ephemeral)
                                      : co_await client.get(kClaims, name.namespace_, name.name);
        if (!claim && (place == nullptr || claim.error().code() != Code::kNotFound))
            co_return claim.error();
        if (claim) {
            if (ephemeral) CO_TRY_VOID(check_owner((*claim)->get_object(), *pod));
            const json::object& spec = kube::child((*claim)->get_object(), "spec");
            const std::vector<std::string> modes = kube::strings_at(spec, "accessModes");
            if (std::ranges::find(modes, "ReadWriteOncePod") != modes.end())
                found.of_one_pod.push_back(name);
            if (place == nullptr) {
                CO_TRY(const kube::ObjectPtr bound,
                       co_await client.get(kVolumes, {},
                                           std::string(kube::string_at(spec, "volumeName"))));
                CO_TRY(directory, directory_of(bound->get_object(), name.name));
            }
        }
        if (const json::object* source = kube::object_at(volume.rest, "persistentVolumeClaim"))
            directory.read_only = kube::bool_at(*source, "readOnly");
        found.directories.insert_or_assign(volume.name, std::move(directory));
    }
    co_return found;
}

Result<void> ClaimsInUse::take(const std::vector<kube::NamespacedName>& claims,
                               const kube::Pod& pod) {
    expected_.erase(pod.metadata.uid);
    if (!claims.empty() && !expected_.empty())
        return Error(Code::kUnavailable,
                     fmt::format("the claim \"{}\" is ReadWriteOncePod, and pods that run already "
                                 "are still looked at",
                                 claims.front().name));
    for (const kube::NamespacedName& claim : claims)
        if (const auto user = users_.find(claim);
            user != users_.end() && user->second.uid != pod.metadata.uid)
            return Error(
                Code::kAlreadyExists,
                fmt::format("the claim \"{}\" is ReadWriteOncePod, and pod {} has it: this "
                            "pod waits until that one ends",
                            claim.name, user->second.name));
    for (const kube::NamespacedName& claim : claims)
        users_.insert_or_assign(claim, User{pod.metadata.uid, pod.metadata.name});
    return {};
}

void ClaimsInUse::release(const std::string& pod_uid) {
    expected_.erase(pod_uid);
    std::erase_if(users_, [&](const auto& entry) { return entry.second.uid == pod_uid; });
}

}  // namespace muster::runtime
