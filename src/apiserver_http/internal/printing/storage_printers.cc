#include <fmt/format.h>

#include <algorithm>

#include "apiserver_http/internal/printing/cell_text.h"
#include "apiserver_http/internal/printing/fields.h"
#include "apiserver_http/internal/printing/printer.h"

namespace muster::apiserver_http {

namespace {

constexpr Column kClaimColumns[] = {
    kNameColumn,
    {"Status", "string", "", "Whether it has a volume."},
    {"Volume", "string", "", "The volume that it is bound to."},
    {"Capacity", "string", "", "The size of that volume."},
    {"Access Modes", "string", "", "How that volume can be mounted."},
    {"StorageClass", "string", "", "The class that it asks for."},
    {"VolumeAttributesClass", "string", "", "The attributes that it asks for."},
    kAgeColumn,
    {"VolumeMode", "string", "", "Whether it is a file system or a block device.", 1},
};

/// Each mode once, from the narrowest to the widest, with single-pod access last.
std::string access_modes(const json::object& status) {
    constexpr std::pair<std::string_view, const char*> kModes[] = {{"ReadWriteOnce", "RWO"},
                                                                   {"ReadOnlyMany", "ROX"},
                                                                   {"ReadWriteMany", "RWX"},
                                                                   {"ReadWriteOncePod", "RWOP"}};
    const std::vector<std::string> given = strings_at(status, "accessModes");
    std::vector<std::string> texts;
    for (const auto& [mode, text] : kModes)
        if (std::ranges::find(given, mode) != given.end()) texts.emplace_back(text);
    return joined(texts);
}

json::array claim_cells(const json::object& claim, WallTime now) {
    const json::object& spec = child(claim, "spec");
    const json::object& status = child(claim, "status");
    const std::string_view volume = string_at(spec, "volumeName");
    const bool bound = !volume.empty();
    const json::value* size = child(status, "capacity").if_contains("storage");
    return {name_of(claim),
            is_deleting(claim) ? "Terminating" : string_at(status, "phase"),
            volume,
            bound ? apiserver::scalar_text(size) : std::string(),
            bound ? access_modes(status) : std::string(),
            string_at(spec, "storageClassName"),
            or_else(string_at(spec, "volumeAttributesClassName"), kUnsetText),
            age_of(claim, now),
            or_else(string_at(spec, "volumeMode"), kUnsetText)};
}

constexpr Column kVolumeColumns[] = {
    kNameColumn,
    {"Capacity", "string", "", "Its size."},
    {"Access Modes", "string", "", "How it can be mounted."},
    {"Reclaim Policy", "string", "", "What becomes of it after its claim."},
    {"Status", "string", "", "Whether a claim has it."},
    {"Claim", "string", "", "The claim that has it."},
    {"StorageClass", "string", "", "The class that it belongs to."},
    {"VolumeAttributesClass", "string", "", "The attributes that it has."},
    {"Reason", "string", "", "Why it failed."},
    kAgeColumn,
    {"VolumeMode", "string", "", "Whether it is a file system or a block device.", 1},
};

json::array volume_cells(const json::object& volume, WallTime now) {
    const json::object& spec = child(volume, "spec");
    const json::object& status = child(volume, "status");
    const json::value* size = child(spec, "capacity").if_contains("storage");
    std::string claim;
    if (const json::object* bound = object_at(spec, "claimRef"))
        claim = fmt::format("{}/{}", string_at(*bound, "namespace"), string_at(*bound, "name"));
    return {name_of(volume),
            or_else(apiserver::scalar_text(size), "0"),
            access_modes(spec),
            string_at(spec, "persistentVolumeReclaimPolicy"),
            is_deleting(volume) ? "Terminating" : string_at(status, "phase"),
            claim,
            string_at(spec, "storageClassName"),
            or_else(string_at(spec, "volumeAttributesClassName"), kUnsetText),
            string_at(status, "reason"),
            age_of(volume, now),
            or_else(string_at(spec, "volumeMode"), kUnsetText)};
}

constexpr Column kClassColumns[] = {
    kNameColumn,
    {"Provisioner", "string", "", "Who makes its volumes."},
    {"ReclaimPolicy", "string", "", "What becomes of a volume after its claim."},
    {"VolumeBindingMode", "string", "", "Whether volumes wait for the first pod."},
    {"AllowVolumeExpansion", "boolean", "", "Whether volumes can grow."},
    kAgeColumn,
};

json::array class_cells(const json::object& storage_class, WallTime now) {
    std::string name(name_of(storage_class));
    const json::object& annotations = child(metadata_of(storage_class), "annotations");
    if (string_at(annotations, "storageclass.kubernetes.io/is-default-class") == "true")
        name += " (default)";
    return {name,
            string_at(storage_class, "provisioner"),
            or_else(string_at(storage_class, "reclaimPolicy"), "Delete"),
            or_else(string_at(storage_class, "volumeBindingMode"), "Immediate"),
            bool_at(storage_class, "allowVolumeExpansion"),
            age_of(storage_class, now)};
}

constexpr Printer kStoragePrinters[] = {
    {"persistentvolumeclaims", kClaimColumns, claim_cells},
    {"persistentvolumes", kVolumeColumns, volume_cells},
    {"storageclasses.storage.k8s.io", kClassColumns, class_cells},
};

}  // namespace

std::span<const Printer> storage_printers() { return kStoragePrinters; }

}  // namespace muster::apiserver_http
