#include "apiserver/internal/verbs/subresources.h"

#include <limits>

#include "apiserver/internal/strategies/pod_defaults.h"
#include "apiserver/internal/verbs/scale_owners.h"
#include "apiserver/internal/writing/server_side_apply.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "kube/patch/patch.h"
#include "kube/values/document.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

/// Room for additions to a copy.
constexpr std::size_t kSpareBytes = 512;

std::int64_t number_at_path(const json::object& object, const std::string& path) {
    const json::value* value = path.empty() ? nullptr : value_at_path(object, path);
    const std::int64_t* number = value == nullptr ? nullptr : value->if_int64();
    return number == nullptr ? 0 : *number;
}

/// Custom resources have the text; built-in kinds have a LabelSelector, or only the labels.
json::value selector_as_text(const json::value& selector) {
    const json::object* object = selector.if_object();
    if (object == nullptr) return kube::copy_of(selector);
    const bool whole = object->contains("matchLabels") || object->contains("matchExpressions");
    return json::value(whole ? selector_text(object) : labels_text(object));
}

}  // namespace

json::value scale_of(const ResourceDef& def, const json::object& object) {
    const json::object& meta = metadata_of(object);
    json::object scale_meta;
    for (const char* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
        if (const json::value* value = meta.if_contains(key)) scale_meta[key] = *value;
    json::object status{{"replicas", number_at_path(object, def.scale->status_replicas)}};
    if (const std::string& path = def.scale->label_selector; !path.empty())
        if (const json::value* selector = value_at_path(object, path))
            status["selector"] = selector_as_text(*selector);
    return json::object{{"kind", "Scale"},
                        {"apiVersion", "autoscaling/v1"},
                        {"metadata", std::move(scale_meta)},
                        {"spec", {{"replicas", number_at_path(object, def.scale->spec_replicas)}}},
                        {"status", std::move(status)}};
}

StatusResult<json::value> proposed_scale(const ResourceDef& def, const json::value& current,
                                         kube::Method method, kube::ContentType type,
                                         const json::value& body) {
    if (method == kube::Method::kPut) return body;
    const json::value scale = scale_of(def, current.get_object());
    if (type == kube::ContentType::kJsonPatch) {
        TRY(json::value patched, kube::apply_json_patch(scale, body));
        return patched;
    }
    if (type != kube::ContentType::kMergePatch)
        return unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json");
    TRY(json::value patched, kube::apply_merge_patch(scale, body));
    return patched;
}

namespace {

/// The replicas of a Scale that a client sent: a whole number of 32 bits.
StatusResult<std::int64_t> sent_replicas(const json::object& scale, kube::Method method) {
    const json::object* spec = object_at(scale, "spec");
    const json::value* replicas = spec == nullptr ? nullptr : spec->if_contains("replicas");
    if (replicas == nullptr || replicas->is_null()) return 0;
    // Clients in this process also write unsigned numbers. A double is refused, as upstream does.
    json::error_code failed;
    const auto number = replicas->to_number<std::int64_t>(failed);
    if (!failed && !replicas->is_double() && number >= std::numeric_limits<std::int32_t>::min() &&
        number <= std::numeric_limits<std::int32_t>::max())
        return number;
    const std::string why = fmt::format("spec.replicas: {} is not a whole number of 32 bits",
                                        json::serialize(*replicas));
    if (method == kube::Method::kPut)
        return bad_request("Scale in version \"v1\" cannot be handled as a Scale: " + why);
    return invalid("Scale", "autoscaling", name_of(scale),
                   {invalid_value("patch", *replicas, why)});
}

}  // namespace

namespace {

/// Of a write whose entries have been recorded in the object.
Ownership as_recorded(Ownership ownership) {
    if (ownership.kind == Ownership::Kind::kWrite) ownership.kind = Ownership::Kind::kApplied;
    return ownership;
}

}  // namespace

StatusResult<NextState> decide_scale(const ResourceDef& def, const json::value& current,
                                     const json::value& scale, kube::Method method,
                                     const Ownership& ownership) {
    const json::object* sent = scale.if_object();
    if (sent == nullptr) return bad_request("the body of the request must be a Scale object");
    const std::string_view name = name_of(current.get_object());
    const std::string_view version = string_at(metadata_of(*sent), "resourceVersion");
    if (!version.empty() && version != string_at(metadata_of(current), "resourceVersion"))
        return stale_write(def.type, name);
    TRY(const std::int64_t replicas, sent_replicas(*sent, method));
    if (replicas < 0 && !def.custom)
        return invalid("Scale", "autoscaling", name,
                       {invalid_value("spec.replicas", json::value(replicas),
                                      "must be greater than or equal to 0")});
    DecodedObject next{kube::Document(current, kSpareBytes)};
    TRY_VOID(scale_and_track(def, next.object.object(), replicas, ownership, false));
    return decide_update(def, current, std::move(next), "", WriteKind::kPatch,
                         as_recorded(ownership));
}

StatusResult<NextState> decide_applied_scale(const Target& target, const json::value& current,
                                             const json::value& scale, const WriteQuery& query,
                                             const Ownership& ownership) {
    TRY(const std::int64_t replicas, applied_replicas(target, current, scale));
    DecodedObject next{kube::Document(current, kSpareBytes)};
    TRY_VOID(scale_and_track(*target.def, next.object.object(), replicas, ownership, query.force));
    return decide_update(*target.def, current, std::move(next), "", WriteKind::kPatch, ownership);
}

namespace {

/// Replaces the condition of its type.
void set_condition(json::object& pod, json::object condition) {
    json::value& conditions = ensure_object(pod, "status")["conditions"];
    json::array kept;
    if (conditions.is_array())
        for (json::value& entry : conditions.get_array())
            if (!entry.is_object() ||
                string_at(entry.get_object(), "type") != string_at(condition, "type"))
                kept.push_back(std::move(entry));
    kept.push_back(std::move(condition));
    conditions = std::move(kept);
}

}  // namespace

StatusResult<NextState> decide_binding(const ResourceDef& def, const json::value& pod,
                                       const json::value& binding, WallTime now) {
    const json::object* sent = binding.if_object();
    const json::object* target = sent == nullptr ? nullptr : object_at(*sent, "target");
    const std::string node(target == nullptr ? std::string_view() : string_at(*target, "name"));
    const json::object& stored = pod.get_object();
    const std::string name(name_of(stored));
    if (node.empty()) return invalid("Binding", "", name, {required("target.name")});
    if (const std::string_view kind = string_at(*target, "kind"); !kind.empty() && kind != "Node")
        return invalid("Binding", "", name,
                       {not_supported("target.kind", kind, {"Node", "<empty>"})});
    const auto refuse = [&](std::string why) {
        StatusError status_error = conflict(def.type, name, why);
        return StatusError{
            Error(
                Code::kConflict,
                fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": {}", name, why)),
            status_error.details,
            false,
            {}};
    };
    if (is_deleting(stored))
        return refuse(fmt::format("pod {} is being deleted, cannot be assigned to a host", name));
    const json::object* spec = object_at(stored, "spec");
    if (spec != nullptr && !string_at(*spec, "nodeName").empty())
        return refuse(fmt::format("pod {} is already assigned to node \"{}\"", name,
                                  string_at(*spec, "nodeName")));
    if (spec != nullptr && is_gated(*spec))
        return refuse(fmt::format("pod {} has non-empty .spec.schedulingGates", name));
    kube::Document next(pod, kSpareBytes);
    json::object& fields = next.object();
    ensure_object(fields, "spec")["nodeName"] = node;
    set_condition(fields, {{"type", "PodScheduled"},
                           {"status", "True"},
                           {"lastProbeTime", nullptr},
                           {"lastTransitionTime", kube::format_time(now)}});
    // The node of a pod is not a change of its author's intent: its generation stays.
    return NextState{NextState::Kind::kReplace, std::move(next)};
}

StatusResult<kube::Request> deletion_of_eviction(const kube::Request& eviction,
                                                 std::string_view name) {
    const json::object* sent = eviction.body == nullptr ? nullptr : eviction.body->if_object();
    if (sent == nullptr) return bad_request("the request has no body");
    if (const std::string_view meant = name_of(*sent); !meant.empty() && meant != name)
        return bad_request("name in URL does not match name in Eviction object");
    kube::Request deletion;
    deletion.method = kube::Method::kDelete;
    deletion.query = eviction.query;
    if (const json::object* options = object_at(*sent, "deleteOptions"))
        deletion.body = std::make_shared<const json::value>(*options);
    return deletion;
}

StatusResult<NextState> decide_eviction(const ResourceDef& def, const json::value& pod,
                                        WallTime now) {
    kube::Document next(pod, kSpareBytes);
    set_condition(next.object(), {{"type", "DisruptionTarget"},
                                  {"status", "True"},
                                  {"reason", "EvictionByEvictionAPI"},
                                  {"message", "Eviction API: evicting"},
                                  {"lastProbeTime", nullptr},
                                  {"lastTransitionTime", kube::format_time(now)}});
    return settle(def, pod, std::move(next));
}

StatusResult<NextState> decide_finalize(const ResourceDef& def, const json::value& current,
                                        const json::value& body) {
    const json::object* sent = body.if_object();
    if (sent == nullptr) return bad_request("the body of the request must be a Namespace object");
    const std::string_view version = string_at(metadata_of(*sent), "resourceVersion");
    if (!version.empty() && version != string_at(metadata_of(current), "resourceVersion"))
        return stale_write(def.type, name_of(current.get_object()));
    kube::Document next(current, kSpareBytes);
    const json::object* spec = object_at(*sent, "spec");
    const json::array* finalizers = spec == nullptr ? nullptr : array_at(*spec, "finalizers");
    ensure_object(next.object(), "spec")["finalizers"] =
        finalizers == nullptr ? json::array() : *finalizers;
    return settle(def, current, std::move(next));
}

}  // namespace muster::apiserver
