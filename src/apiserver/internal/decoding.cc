#include "apiserver/internal/decoding.h"

#include "apiserver/internal/json_access.h"

namespace muster::apiserver {

namespace {

/// "Pod in version "v1" cannot be handled as a Pod: ...".
std::string mishandled(const ResourceDef& def, const json::object& object, std::string_view why) {
    const std::string_view kind = string_at(object, "kind");
    return fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                       kind.empty() ? def.type.kind : kind, def.type.version, def.type.kind, why);
}

Answer<void> check_type(const ResourceDef& def, json::object& object) {
    const std::string_view version = string_at(object, "apiVersion");
    const std::string_view kind = string_at(object, "kind");
    const std::string expected = def.type.api_version();
    if (def.custom && kind.empty())
        return bad_request("Object 'Kind' is missing in '" + json::serialize(object) + "'");
    if (def.custom && version.empty())
        return bad_request("Object 'apiVersion' is missing in '" + json::serialize(object) + "'");
    if (!version.empty() && version != expected)
        return bad_request(
            fmt::format("the API version in the data ({}) does not match the expected API version "
                        "({})",
                        version, expected));
    if (!kind.empty() && kind != def.type.kind) {
        if (!def.custom)
            return bad_request(mishandled(def, object, "the object is of another kind"));
        return invalid(kind, def.type.group, name_of(object),
                       {invalid_value("kind", json::value(kind), "must be " + def.type.kind)});
    }
    if (version.empty()) object["apiVersion"] = expected;
    if (kind.empty()) object["kind"] = def.type.kind;
    return {};
}

/// What a real server fails to decode (types, formats of times and quantities) is a 400. Fields
/// that are missing are left to validation; which items may not be equal is for each kind's rules.
Answer<std::vector<Cause>> check_structure(const ResourceDef& def, const json::value& object) {
    std::vector<Cause> causes = kube::validate(*def.schema, object);
    std::string wrong;
    for (const Cause& cause : causes) {
        if (cause.reason != "FieldValueTypeInvalid" && cause.reason != "FieldValueInvalid")
            continue;
        if (!wrong.empty()) wrong += ", ";
        wrong += describe(cause);
    }
    std::erase_if(causes, [](const Cause& cause) { return cause.reason != "FieldValueRequired"; });
    if (wrong.empty()) return causes;
    return bad_request(mishandled(def, object.get_object(), wrong));
}

}  // namespace

Answer<DecodedObject> decode_object(const ResourceDef& def, const kube::ObjectPtr& body,
                                    kube::FieldValidation field_validation) {
    if (body == nullptr || !body->is_object())
        return bad_request("the body of the request must be a " + def.type.kind + " object");
    return decode_object(def, json::value(*body), field_validation);
}

Answer<DecodedObject> decode_object(const ResourceDef& def, json::value object,
                                    kube::FieldValidation field_validation) {
    if (!object.is_object())
        return bad_request("the body of the request must be a " + def.type.kind + " object");
    DecodedObject decoded{std::move(object), {}, {}};
    json::object& fields = decoded.object.get_object();
    TRY_VOID(check_type(def, fields));
    json::value& metadata = fields["metadata"];
    if (metadata.is_null()) metadata.emplace_object();
    if (!metadata.is_object())
        return bad_request(mishandled(def, fields, "metadata: must be an object"));

    if (field_validation != kube::FieldValidation::kIgnore) {
        for (const kube::UnknownField& unknown : kube::find_unknown(*def.schema, decoded.object))
            decoded.warnings.push_back(fmt::format("unknown field \"{}\"", unknown.path));
        if (field_validation == kube::FieldValidation::kStrict && !decoded.warnings.empty())
            return bad_request(mishandled(
                def, fields,
                fmt::format("strict decoding error: {}", fmt::join(decoded.warnings, ", "))));
    }
    if (!def.custom) {
        TRY(decoded.causes, check_structure(def, decoded.object));
    }
    kube::prune(*def.schema, decoded.object);
    return decoded;
}

}  // namespace muster::apiserver
