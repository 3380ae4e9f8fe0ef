#include "apiserver/internal/pod_validation/claim_spec.h"
#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/strategies/workload_strategies.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

void begin_pending(json::object& object, WallTime) { object["status"] = {{"phase", "Pending"}}; }

void validate_claim(const json::object& claim, FieldErrors& field_errors) {
    check_claim_spec(child(claim, "spec"), "spec", field_errors);
}

/// Once a volume and a class are given, they stay. A bound claim may ask for another amount.
void validate_claim_update(const json::object& next, const json::object& current,
                           FieldErrors& field_errors) {
    json::object rest = kube::copy_of(child(next, "spec"));
    const json::object& before = child(current, "spec");
    const auto take = [&](std::string_view key) {
        if (const json::value* stored = before.if_contains(key))
            rest[key] = *stored;
        else
            rest.erase(key);
    };
    take("volumeAttributesClassName");
    for (const char* once : {"volumeName", "storageClassName"})
        if (!before.contains(once)) take(once);
    if (string_at(child(current, "status"), "phase") == "Bound") take("resources");
    if (!kube::equal(rest, before))
        field_errors.push_back(
            forbidden_field("spec",
                            "spec is immutable after creation except resources.requests "
                            "and volumeAttributesClassName for bound claims"));
}

void validate_volume(const json::object& volume, FieldErrors& field_errors) {
    const json::object& spec = child(volume, "spec");
    check_access_modes(spec, "spec", field_errors);
    if (child(spec, "capacity").empty()) field_errors.push_back(required("spec.capacity"));
    const std::string_view reclaim = string_at(spec, "persistentVolumeReclaimPolicy");
    if (reclaim != "Retain" && reclaim != "Delete" && reclaim != "Recycle")
        field_errors.push_back(not_supported("spec.persistentVolumeReclaimPolicy", reclaim,
                                             {"Delete", "Recycle", "Retain"}));
    check_choice(spec, "volumeMode", {"Block", "Filesystem"}, "spec", field_errors);
}

void validate_class(const json::object& storage_class, FieldErrors& field_errors) {
    if (string_at(storage_class, "provisioner").empty())
        field_errors.push_back(required("provisioner"));
    // As in upstream, an empty policy is one.
    const std::string_view reclaim = string_at(storage_class, "reclaimPolicy");
    if (!reclaim.empty() && reclaim != "Retain" && reclaim != "Delete")
        field_errors.push_back(not_supported("reclaimPolicy", reclaim, {"Delete", "Retain"}));
    const std::string_view mode = string_at(storage_class, "volumeBindingMode");
    if (mode != "Immediate" && mode != "WaitForFirstConsumer")
        field_errors.push_back(
            not_supported("volumeBindingMode", mode, {"Immediate", "WaitForFirstConsumer"}));
}

void validate_class_update(const json::object& next, const json::object& current,
                           FieldErrors& field_errors) {
    check_immutable(next, current, "",
                    {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"},
                    field_errors);
}

}  // namespace

Strategy claim_strategy() {
    return {.apply_defaults =
                [](json::object& claim) {
                    set_default(ensure_object(claim, "spec"), "volumeMode",
                                json::value("Filesystem"));
                },
            .prepare_create = begin_pending,
            .validate = validate_claim,
            .validate_update = validate_claim_update};
}

Strategy volume_strategy() {
    return {.apply_defaults =
                [](json::object& volume) {
                    json::object& spec = ensure_object(volume, "spec");
                    set_default(spec, "persistentVolumeReclaimPolicy", json::value("Retain"));
                    set_default(spec, "volumeMode", json::value("Filesystem"));
                    if (json::object* path = object_at(spec, "hostPath"))
                        set_default(*path, "type", json::value(""));
                },
            .prepare_create = begin_pending,
            .validate = validate_volume};
}

Strategy storage_class_strategy() {
    return {.apply_defaults =
                [](json::object& storage_class) {
                    set_default(storage_class, "reclaimPolicy", json::value("Delete"));
                    set_default(storage_class, "volumeBindingMode", json::value("Immediate"));
                },
            .validate = validate_class,
            .validate_update = validate_class_update};
}

}  // namespace muster::apiserver
