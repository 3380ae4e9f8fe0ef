#include "apiserver/internal/writing/server_side_apply.h"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "apiserver/internal/writing/owner_views.h"
#include "apiserver/objects/json_access.h"
#include "kube/patch/structured_merge.h"
#include "kube/values/read_json.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kSpareForApply = 2048;
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/// The only manager that is known to have applied on the client's side before.
constexpr std::string_view kKubectl = "kubectl";

/// "apps/v1, Kind=Deployment", as messages name a kind.
std::string described_kind(std::string_view api_version, std::string_view kind) {
    return fmt::format("{}{}, Kind={}", api_version.find('/') == std::string_view::npos ? "/" : "",
                       api_version, kind);
}

std::string_view last_applied_of(const json::object& object) {
    const json::object* annotations = object_at(metadata_of(object), "annotations");
    return annotations == nullptr ? std::string_view() : string_at(*annotations, kLastApplied);
}

json::value with_sorted_keys(const json::value& value) {
    if (const json::array* array = value.if_array()) {
        json::array sorted;
        for (const json::value& item : *array) sorted.push_back(with_sorted_keys(item));
        return sorted;
    }
    const json::object* object = value.if_object();
    if (object == nullptr) return value;
    std::vector<const json::key_value_pair*> entries;
    for (const auto& entry : *object) entries.push_back(&entry);
    std::ranges::sort(entries, {},
                      [](const auto* entry) { return std::string_view(entry->key()); });
    json::object sorted;
    for (const auto* entry : entries)
        sorted.emplace(entry->key(), with_sorted_keys(entry->value()));
    return sorted;
}

/// The annotation that kubectl would write for this configuration.
std::string last_applied_text(const json::value& configuration) {
    json::value kept = with_sorted_keys(configuration);
    if (json::object* meta = object_at(kept.get_object(), "metadata"))
        if (json::object* annotations = object_at(*meta, "annotations"))
            annotations->erase(kLastApplied);
    return json::serialize(kept) + "\n";
}

/// Fields that kubectl applied on its side and no one has changed since are its own, whoever is
/// recorded for them.
kube::FieldSet owned_by_last_applied(const ResourceDef& def, const json::value& live) {
    const std::string_view text = last_applied_of(live.get_object());
    if (text.empty()) return {};
    const std::optional<json::value> last = kube::read_json(text);
    if (!last || !last->is_object()) return {};
    if (string_at(last->get_object(), "apiVersion") != def.type.api_version()) return {};
    if (!kube::check_mergeable(def.schema.get(), *last)) return {};
    const kube::FieldChanges since = kube::compare_fields(def.schema.get(), *last, live);
    const kube::FieldSet set = kube::field_set_of(def.schema.get(), *last);
    return difference_of(difference_of(difference_of(set, since.modified), since.added),
                         since.removed);
}

/// The written part of a configuration for the status.
json::value status_configuration(const json::object& configuration) {
    json::object kept;
    for (std::string_view key : {"apiVersion", "kind", "metadata", "status"})
        if (const json::value* field = configuration.if_contains(key)) kept.emplace(key, *field);
    return kept;
}

/// What is null after an apply: configurations may say so, and a map or list is null when nothing is
/// left of it. Built-in kinds read that as absence; a definition has to allow it.
std::vector<Cause> nulls_of(const ResourceDef& def, const json::value& applied) {
    if (!def.custom) return {};
    std::vector<Cause> nulls = kube::find_nulls(*def.schema, applied);
    std::erase_if(nulls, [](const Cause& cause) { return cause.field.starts_with("metadata."); });
    return nulls;
}

StatusError forbidden_for(const Target& target, const json::value& configuration, Error error) {
    if (error.code() != Code::kInternal)
        return {std::move(error), kube::StatusDetails{}, false, {}};
    return internal_error(fmt::format(
        "failed to create typed patch object ({}/{}; {}): {}", target.namespace_, target.name,
        described_kind(string_at(configuration.get_object(), "apiVersion"),
                       string_at(configuration.get_object(), "kind")),
        error.message()));
}

}  // namespace

StatusResult<void> check_configuration(const Target& target, const json::value& configuration) {
    const json::object* object = configuration.if_object();
    if (object == nullptr)
        return bad_request("error decoding YAML: an applied configuration must be an object");
    const std::string_view version = string_at(*object, "apiVersion");
    const std::string_view kind = string_at(*object, "kind");
    if (version != target.type().api_version() || kind != target.type().kind)
        return bad_request("invalid object type: " + described_kind(version, kind));
    const json::object& meta = metadata_of(*object);
    if (const json::value* entries = meta.if_contains("managedFields");
        entries != nullptr && !entries->is_null())
        return bad_request("metadata.managedFields must be nil");
    const std::string_view name = string_at(meta, "name");
    if (!name.empty() && name != target.name)
        return bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                        target.name));
    const std::string_view space = string_at(meta, "namespace");
    if (!space.empty() && space != target.namespace_)
        return bad_request(
            fmt::format("the namespace of the object ({}) does not match the namespace on the URL "
                        "({})",
                        space, target.namespace_));
    return {};
}

StatusResult<DecodedObject> apply_configuration(const Target& target, const json::value& current,
                                                const json::value& configuration,
                                                const Ownership& ownership,
                                                const WriteQuery& query) {
    const ResourceDef& def = *target.def;
    const kube::FieldOwner& manager = ownership.manager;
    kube::Document next(current, 2 * kube::tree_bytes(configuration) + kSpareForApply);
    json::array entries(next.value().storage());
    {
        json::object& meta = ensure_object(next.object(), "metadata");
        if (json::array* stored = array_at(meta, "managedFields")) entries = std::move(*stored);
        meta.erase("managedFields");
        if (!def.storage_version || def.stored_in_several)
            next.object()["apiVersion"] = def.type.api_version();
    }
    kube::ApplyOptions options{
        .force = query.force, .versions = ownership.views.get(), .unset = def.unset};
    const bool from_kubectl = manager.name == kKubectl && manager.subresource.empty();
    if (from_kubectl && !query.force) options.tolerated = owned_by_last_applied(def, next.value());

    const bool status = manager.subresource == "status";
    Result<void> applied = kube::apply_fields(
        entries, def.schema.get(), next.value(),
        status ? status_configuration(configuration.get_object()) : configuration,
        ignored_fields(def, manager.subresource), manager, options);
    if (!applied) return forbidden_for(target, configuration, std::move(applied.error()));

    json::object& meta = ensure_object(next.object(), "metadata");
    if (from_kubectl && !last_applied_of(next.object()).empty())
        ensure_object(meta, "annotations")[kLastApplied] = last_applied_text(configuration);
    if (!entries.empty()) meta["managedFields"] = std::move(entries);
    std::vector<Cause> nulls = nulls_of(def, next.value());
    TRY(DecodedObject decoded, decode_object(def, std::move(next), query.field_validation));
    for (Cause& cause : nulls) decoded.field_errors.push_back(std::move(cause));
    return decoded;
}

StatusResult<DecodedObject> new_from_configuration(const Target& target,
                                                   const json::value& configuration,
                                                   const Ownership& ownership,
                                                   const WriteQuery& query) {
    const json::object& meta = metadata_of(configuration);
    if (const std::string_view uid = string_at(meta, "uid"); !uid.empty())
        return conflict(target.type(), target.name,
                        fmt::format("uid mismatch: the provided object specified uid {}, and no "
                                    "existing object was found",
                                    uid));
    if (!string_at(meta, "resourceVersion").empty()) return stale_write(target.type(), target.name);
    const json::value nothing = json::object{{"apiVersion", target.type().api_version()},
                                             {"kind", target.type().kind},
                                             {"metadata", {{"name", target.name}}}};
    return apply_configuration(target, nothing, configuration, ownership, query);
}

StatusResult<std::int64_t> applied_replicas(const Target& target, const json::value& current,
                                            const json::value& scale) {
    const json::object* sent = scale.if_object();
    const std::string_view version = sent == nullptr ? "" : string_at(*sent, "apiVersion");
    const std::string_view kind = sent == nullptr ? "" : string_at(*sent, "kind");
    if (version != "autoscaling/v1" || kind != "Scale")
        return bad_request("invalid object type: " + described_kind(version, kind));
    const std::string_view revision = string_at(metadata_of(*sent), "resourceVersion");
    if (!revision.empty() && revision != string_at(metadata_of(current), "resourceVersion"))
        return stale_write(target.type(), target.name);
    const json::object* spec = object_at(*sent, "spec");
    const json::value* replicas = spec == nullptr ? nullptr : spec->if_contains("replicas");
    if (replicas == nullptr) return 0;
    const std::int64_t* number = replicas->if_int64();
    if (number == nullptr || *number < 0)
        return invalid(
            "Scale", "autoscaling", target.name,
            {invalid_value("spec.replicas", *replicas, "must be greater than or equal to 0")});
    return *number;
}

}  // namespace muster::apiserver
