#include "apiserver/internal/volumes/volume_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/internal/claims/default_storage_class.h"
#include "apiserver/internal/volumes/ephemeral_claims.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "kube/values/document.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
constexpr std::string_view kProvisionerSwitch = "muster.dev/provisioner";

kube::Quantity storage_of(const json::object& amounts) {
    const json::value* amount = amounts.if_contains("storage");
    if (amount == nullptr) return {};
    return kube::Quantity::parse(*amount).value_or(kube::Quantity());
}

std::string mode_of(const json::object& spec) {
    const std::string_view mode = string_at(spec, "volumeMode");
    return std::string(mode.empty() ? "Filesystem" : mode);
}

}  // namespace

VolumeFacts volume_facts(const json::object& volume) {
    const json::object& metadata = metadata_of(volume);
    const json::object& spec = child(volume, "spec");
    VolumeFacts facts{.name = std::string(name_of(volume)),
                      .class_name = std::string(string_at(spec, "storageClassName")),
                      .mode = mode_of(spec),
                      .phase = std::string(string_at(child(volume, "status"), "phase")),
                      .access_modes = strings_at(spec, "accessModes"),
                      .capacity = storage_of(child(spec, "capacity")),
                      .labels = kube::copy_of(child(metadata, "labels")),
                      .claim = std::nullopt,
                      .claim_uid = {}};
    if (const json::object* claim = object_at(spec, "claimRef")) {
        facts.claim = NamespacedName{std::string(string_at(*claim, "namespace")),
                                     std::string(string_at(*claim, "name"))};
        facts.claim_uid = string_at(*claim, "uid");
    }
    facts.ours = string_at(child(metadata, "annotations"), kProvisionedBy) == kDirectoryProvisioner;
    facts.of_claim_alone = string_at(spec, "persistentVolumeReclaimPolicy") == "Delete";
    facts.deleting = is_deleting(volume);
    return facts;
}

ClaimFacts claim_facts(const json::object& claim) {
    const json::object& spec = child(claim, "spec");
    ClaimFacts facts{.uid = std::string(uid_of(claim)),
                     .phase = std::string(string_at(child(claim, "status"), "phase")),
                     .mode = mode_of(spec),
                     .volume_name = std::string(string_at(spec, "volumeName")),
                     .class_name = std::nullopt,
                     .access_modes = strings_at(spec, "accessModes"),
                     .request = storage_of(child(child(spec, "resources"), "requests")),
                     .selector = {}};
    if (const json::value* name = spec.if_contains("storageClassName");
        name != nullptr && name->is_string())
        facts.class_name = std::string(name->get_string());
    if (auto selector = label_selector_of(object_at(spec, "selector")))
        facts.selector = *std::move(selector);
    facts.of_pod = pod_of_claim(claim).has_value();
    facts.deleting = is_deleting(claim);
    return facts;
}

ClassFacts class_facts(const json::object& storage_class) {
    const json::object& annotations = child(metadata_of(storage_class), "annotations");
    return {.is_default = is_default_class(storage_class),
            .provides = string_at(storage_class, "provisioner") != "kubernetes.io/no-provisioner" &&
                        string_at(annotations, kProvisionerSwitch) != "off",
            .keeps = string_at(storage_class, "reclaimPolicy") == "Retain"};
}

bool suits(const VolumeFacts& volume, const ClaimFacts& claim, const std::string& class_name) {
    return !volume.deleting && volume.class_name == class_name && volume.mode == claim.mode &&
           volume.capacity >= claim.request &&
           std::ranges::all_of(claim.access_modes,
                               [&](const std::string& mode) {
                                   return std::ranges::find(volume.access_modes, mode) !=
                                          volume.access_modes.end();
                               }) &&
           matches_labels(claim.selector, &volume.labels);
}

std::string phase_of(const VolumeFacts& volume, const std::string& claim_uid) {
    if (!volume.claim || volume.claim_uid.empty()) return "Available";
    return volume.claim_uid == claim_uid ? "Bound" : "Released";
}

std::string directory_of(const NamespacedName& claim, const std::string& uid,
                         const VolumePlaces& places) {
    for (const std::string& name : {claim.text(), claim.name})
        if (const auto placed = places.claims.find(name); placed != places.claims.end())
            return placed->second;
    return fmt::format("{}/{}/{}{}{}", places.root, claim.namespace_, claim.name,
                       uid.empty() ? "" : ".", uid);
}

bool is_placed(const NamespacedName& claim, const VolumePlaces& places) {
    return places.claims.contains(claim.text()) || places.claims.contains(claim.name);
}

}  // namespace muster::apiserver
