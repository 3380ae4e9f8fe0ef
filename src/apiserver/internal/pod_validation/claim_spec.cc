#include "apiserver/internal/pod_validation/claim_spec.h"

#include <algorithm>

#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/metadata_words.h"
#include "kube/values/quantity.h"

namespace muster::apiserver {

namespace {

void check_storage(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    const std::string field = in + ".resources[storage]";
    const json::value* storage = child(child(spec, "resources"), "requests").if_contains("storage");
    if (storage == nullptr) {
        field_errors.push_back(required(field));
        return;
    }
    const auto amount = kube::Quantity::parse(*storage);
    if (amount && (amount->is_negative() || amount->is_zero()))
        field_errors.push_back(
            invalid_value(field, json::value(amount->to_string()), "must be greater than zero"));
}

/// The object from which a volume is filled.
void check_data_source(const json::object& source, const std::string& field,
                       FieldErrors& field_errors) {
    for (const char* key : {"name", "kind"})
        if (string_at(source, key).empty())
            field_errors.push_back(required(fmt::format("{}.{}", field, key)));
    const std::string_view group = string_at(source, "apiGroup");
    const std::string_view kind = string_at(source, "kind");
    if (group.empty() && kind != "PersistentVolumeClaim")
        field_errors.push_back(
            invalid_value(field, json::value(kind),
                          "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
    if (!group.empty()) check_dns_subdomain(group, field + ".apiGroup", field_errors);
    if (const std::string_view name = string_at(source, "namespace"); !name.empty())
        check_dns_label(name, field + ".namespace", field_errors);
}

void check_data_sources(const json::object& spec, const std::string& field,
                        FieldErrors& field_errors) {
    const json::object* source = object_at(spec, "dataSource");
    const json::object* reference = object_at(spec, "dataSourceRef");
    if (source != nullptr) check_data_source(*source, field + ".dataSource", field_errors);
    if (reference != nullptr) check_data_source(*reference, field + ".dataSourceRef", field_errors);
    if (source == nullptr || reference == nullptr) return;
    const auto refuse = [&](std::string_view why) {
        // Upstream shows addresses in its memory instead of the path.
        field_errors.push_back(invalid_text(field, field + ".dataSource", why, Shown::kBare));
    };
    const auto same = [&](const char* key) {
        return string_at(*source, key) == string_at(*reference, key);
    };
    if (!string_at(*reference, "namespace").empty())
        refuse("may not be specified when dataSourceRef.namespace is specified");
    else if (!same("apiGroup") || !same("kind") || !same("name") ||
             source->contains("apiGroup") != reference->contains("apiGroup"))
        refuse("must match dataSourceRef");
}

bool is_zero(const json::value& value) {
    if (const json::object* object = value.if_object()) return object->empty();
    if (const json::string* text = value.if_string()) return text->empty();
    return value.is_null() || value == 0;
}

}  // namespace

void check_access_modes(const json::object& spec, const std::string& in,
                        FieldErrors& field_errors) {
    const std::string field = in + ".accessModes";
    const std::vector<std::string> modes = strings_at(spec, "accessModes");
    if (modes.empty())
        field_errors.push_back(required(field, "at least 1 access mode is required"));
    static const std::vector<std::string_view> kModes{"ReadOnlyMany", "ReadWriteMany",
                                                      "ReadWriteOnce", "ReadWriteOncePod"};
    bool alone = false;
    bool shared = false;
    for (const std::string& mode : modes) {
        if (std::ranges::find(kModes, mode) == kModes.end())
            field_errors.push_back(not_supported(field, mode, kModes));
        else
            (mode == "ReadWriteOncePod" ? alone : shared) = true;
    }
    if (alone && shared)
        field_errors.push_back(
            forbidden_field(field, "may not use ReadWriteOncePod with other access modes"));
}

void check_claim_spec(const json::object& spec, const std::string& field,
                      FieldErrors& field_errors) {
    check_access_modes(spec, field, field_errors);
    if (const json::object* selector = object_at(spec, "selector"))
        check_label_selector(*selector, field + ".selector", field_errors);
    check_storage(spec, field, field_errors);
    if (const std::string_view name = string_at(spec, "storageClassName"); !name.empty())
        check_dns_subdomain(name, field + ".storageClassName", field_errors);
    check_choice(spec, "volumeMode", {"Block", "Filesystem"}, field, field_errors);
    check_data_sources(spec, field, field_errors);
}

void check_claim_template(const json::object& claim_template, const std::string& field,
                          FieldErrors& field_errors) {
    const std::string in = field + ".metadata";
    const json::object& metadata = child(claim_template, "metadata");
    for (const auto& [key, value] : metadata) {
        const std::string at = fmt::format("{}.{}", in, std::string_view(key));
        if (key == "annotations")
            check_annotations(child(metadata, key), at, field_errors);
        else if (key == "labels")
            check_label_map(child(metadata, key), at, field_errors);
        else if (key == "deletionGracePeriodSeconds" || !is_zero(value))
            // Named as in Go.
            field_errors.push_back(
                forbidden_field(key == "uid" ? in + ".uID" : at, "cannot be set"));
    }
    check_claim_spec(child(claim_template, "spec"), field + ".spec", field_errors);
}

}  // namespace muster::apiserver
