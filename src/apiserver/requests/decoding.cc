#include "apiserver/requests/decoding.h"

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

/// "Pod in version "v1" cannot be handled as a Pod: ...".
std::string mishandled(const ResourceDef& def, const json::object& object, std::string_view why) {
    const std::string_view kind = string_at(object, "kind");
    return fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                       kind.empty() ? def.type.kind : kind, def.type.version, def.type.kind, why);
}

StatusResult<void> check_type(const ResourceDef& def, const json::object& object) {
    const std::string_view version = string_at(object, "apiVersion");
    const std::string_view kind = string_at(object, "kind");
    if (def.custom && kind.empty())
        return bad_request("Object 'Kind' is missing in '" + json::serialize(object) + "'");
    if (def.custom && version.empty())
        return bad_request("Object 'apiVersion' is missing in '" + json::serialize(object) + "'");
    if (!version.empty() && version != def.type.api_version())
        return bad_request(
            fmt::format("the API version in the data ({}) does not match the expected API version "
                        "({})",
                        version, def.type.api_version()));
    if (!kind.empty() && kind != def.type.kind) {
        if (!def.custom)
            return bad_request(mishandled(def, object, "the object is of another kind"));
        return invalid(kind, def.type.group, name_of(object),
                       {invalid_value("kind", json::value(kind), "must be " + def.type.kind)});
    }
    const json::value* metadata = object.if_contains("metadata");
    if (metadata != nullptr && !metadata->is_null() && !metadata->is_object())
        return bad_request(mishandled(def, object, "metadata: must be an object"));
    return {};
}

/// Fills in what check_type() did not require.
void complete_type(const ResourceDef& def, json::object& object) {
    if (string_at(object, "apiVersion").empty()) object["apiVersion"] = def.type.api_version();
    if (string_at(object, "kind").empty()) object["kind"] = def.type.kind;
    ensure_object(object, "metadata");
}

StatusResult<std::vector<std::string>> unknown_field_warnings(
    const ResourceDef& def, const json::value& object, kube::FieldValidation field_validation) {
    std::vector<std::string> warnings;
    for (const kube::UnknownField& unknown : kube::find_unknown(*def.schema, object))
        warnings.push_back(fmt::format("unknown field \"{}\"", unknown.path));
    if (field_validation == kube::FieldValidation::kStrict && !warnings.empty())
        return bad_request(
            mishandled(def, object.get_object(),
                       fmt::format("strict decoding error: {}", fmt::join(warnings, ", "))));
    return warnings;
}

/// What a real server fails to decode (types, formats of times and quantities) is a 400. Missing
/// fields are left to validation; each kind's rules say which items must be unique.
StatusResult<std::vector<Cause>> missing_fields(const ResourceDef& def, const json::object& object,
                                                std::vector<Cause> field_errors) {
    std::string wrong;
    for (const Cause& cause : field_errors) {
        if (cause.reason != "FieldValueTypeInvalid" && cause.reason != "FieldValueInvalid")
            continue;
        if (!wrong.empty()) wrong += ", ";
        wrong += describe(cause);
    }
    // The metadata rules check owners.
    std::erase_if(field_errors, [](const Cause& cause) {
        return cause.reason != "FieldValueRequired" ||
               cause.field.starts_with("metadata.ownerReferences");
    });
    if (wrong.empty()) return field_errors;
    return bad_request(mishandled(def, object, wrong));
}

/// A body that passed, without its object.
struct Checked {
    std::vector<std::string> warnings;
    std::vector<Cause> field_errors;
    bool well_formed = false;
    bool needs_pruning = false;
};

StatusResult<Checked> check_body(const ResourceDef& def, const json::value& body,
                                 kube::FieldValidation field_validation) {
    if (!body.is_object())
        return bad_request("the body of the request must be a " + def.type.kind + " object");
    TRY_VOID(check_type(def, body.get_object()));
    // The rules of pods name what a pod lacks; most of it may be missing, and is then zero.
    static const kube::Schema::Ptr pod_spec = kube::core_schema("PodSpec");
    kube::Inspection found =
        kube::inspect(*def.schema, body, {}, def.custom ? nullptr : pod_spec.get());
    Checked checked;
    checked.well_formed = found.causes.empty();
    checked.needs_pruning = found.unknown_fields || found.absent_fields;
    if (found.unknown_fields && field_validation != kube::FieldValidation::kIgnore) {
        TRY(checked.warnings, unknown_field_warnings(def, body, field_validation));
    }
    if (!def.custom) {
        TRY(checked.field_errors, missing_fields(def, body.get_object(), std::move(found.causes)));
    }
    return checked;
}

DecodedObject decoded(const ResourceDef& def, kube::Document object, Checked checked) {
    complete_type(def, object.object());
    if (checked.needs_pruning) kube::prune(*def.schema, object.value());
    return {std::move(object), std::move(checked.warnings), std::move(checked.field_errors),
            checked.well_formed};
}

/// For defaults and system fields.
constexpr std::size_t kSpareBytes = 1024;
constexpr std::size_t kSpareStatusBytes = 256;

}  // namespace

StatusResult<DecodedObject> decode_object(const ResourceDef& def, const kube::ObjectPtr& body,
                                          kube::FieldValidation field_validation, BodyPart part) {
    if (body == nullptr)
        return bad_request("the body of the request must be a " + def.type.kind + " object");
    TRY(Checked checked, check_body(def, *body, field_validation));
    kube::Document object = part == BodyPart::kStatus
                                ? status_part(body->get_object(), kSpareStatusBytes)
                                : kube::Document(*body, kSpareBytes);
    return decoded(def, std::move(object), std::move(checked));
}

StatusResult<DecodedObject> decode_object(const ResourceDef& def, kube::Document object,
                                          kube::FieldValidation field_validation) {
    TRY(Checked checked, check_body(def, object.value(), field_validation));
    return decoded(def, std::move(object), std::move(checked));
}

void set_defaults(const ResourceDef& def, DecodedObject& decoded) {
    if (def.custom && kube::apply_defaults(*def.schema, decoded.object.value()))
        decoded.well_formed = false;
    if (def.strategy.apply_defaults != nullptr)
        def.strategy.apply_defaults(decoded.object.object());
}

kube::Document status_part(const json::object& object, std::size_t spare) {
    constexpr std::string_view kRead[] = {"apiVersion", "kind", "metadata", "status"};
    std::size_t bytes = sizeof(json::key_value_pair) * std::size(kRead) + spare;
    for (std::string_view key : kRead)
        if (const json::value* field = object.if_contains(key))
            bytes += kube::tree_bytes(*field) + key.size() + 1;
    kube::Document part = kube::Document::empty_object(bytes);
    json::object& fields = part.object();
    fields.reserve(std::size(kRead));
    for (std::string_view key : kRead)
        if (const json::value* field = object.if_contains(key)) fields.emplace(key, *field);
    return part;
}

}  // namespace muster::apiserver
