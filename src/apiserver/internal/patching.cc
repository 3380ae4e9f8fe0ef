#include "apiserver/internal/patching.h"

#include "apiserver/internal/causes.h"
#include "apiserver/internal/json_access.h"
#include "kube/patch.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMaxJsonPatchOperations = 10'000;

Result<json::value> patched_value(const ResourceDef& def, const json::value& current,
                                  kube::ContentType type, const json::value& patch) {
    switch (type) {
        case kube::ContentType::kJsonPatch:
            return kube::apply_json_patch(current, patch);
        case kube::ContentType::kMergePatch:
            return kube::apply_merge_patch(current, patch);
        case kube::ContentType::kStrategicMergePatch:
            return kube::apply_strategic_merge_patch(current, patch, *def.schema);
        case kube::ContentType::kJson:
        case kube::ContentType::kApplyPatch:
            break;
    }
    return Error(Code::kUnsupported, "not a patch");
}

/// The part of an object that a write to its status reads.
json::value without_spec(const json::value& object) {
    const json::object& whole = object.get_object();
    json::object part;
    for (const char* key : {"apiVersion", "kind", "metadata", "status"})
        if (const json::value* value = whole.if_contains(key)) part.emplace(key, *value);
    return part;
}

}  // namespace

Answer<void> check_patch_type(const ResourceDef& def, kube::ContentType type,
                              const json::value& patch) {
    switch (type) {
        case kube::ContentType::kJson:
            return unsupported_media_type("415: Unsupported Media Type");
        case kube::ContentType::kApplyPatch:
            return unsupported_media_type(
                "server-side apply (application/apply-patch+yaml) is not served by this API "
                "server; send a merge patch or a strategic merge patch instead");
        case kube::ContentType::kStrategicMergePatch:
            if (def.custom)
                return unsupported_media_type(
                    "the body of the request was in an unknown format - accepted media types "
                    "include: application/json-patch+json, application/merge-patch+json, "
                    "application/apply-patch+yaml");
            break;
        case kube::ContentType::kJsonPatch:
            if (patch.is_array() && patch.get_array().size() > kMaxJsonPatchOperations)
                return Error(Code::kTooLarge,
                             fmt::format("The allowed maximum operations in a JSON patch is {}, "
                                         "got {}",
                                         kMaxJsonPatchOperations, patch.get_array().size()));
            if (!patch.is_array())
                return bad_request("error decoding patch: a JSON patch must be an array");
            return {};
        case kube::ContentType::kMergePatch:
            break;
    }
    if (!patch.is_object())
        return bad_request("error decoding patch: the patch must be a JSON object");
    return {};
}

Answer<DecodedObject> apply_patch(const ResourceDef& def, const json::value& current,
                                  const std::string& subresource, kube::ContentType type,
                                  const json::value& patch,
                                  kube::FieldValidation field_validation) {
    // A status is patched many times in an object's life, and of the rest nothing would be kept.
    const bool status_only = subresource == "status" && type != kube::ContentType::kJsonPatch;
    Result<json::value> patched = status_only
                                      ? patched_value(def, without_spec(current), type, patch)
                                      : patched_value(def, current, type, patch);
    if (!patched) {
        if (patched.error().code() == Code::kInvalid && type == kube::ContentType::kJsonPatch)
            // A real server's wording; the reason follows, which it keeps to itself.
            return Refusal{
                Error(Code::kInvalid,
                      "the server rejected our request due to an error in our request: " +
                          patched.error().message()),
                kube::StatusDetails{},
                false,
                {}};
        return std::move(patched.error());
    }
    const json::object& before = current.get_object();
    if (!patched->is_object())
        return bad_request("error decoding patch: the result is not an object");
    json::object& after = patched->get_object();
    if (status_only) after.erase("spec");
    if (!def.storage_version) {
        // The patch speaks of the served version, the object is stored in another.
        if (string_at(after, "apiVersion") == def.storage_api_version)
            after["apiVersion"] = def.type.api_version();
    }
    if (name_of(after) != name_of(before))
        return bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                        name_of(after), name_of(before)));
    if (namespace_of(after) != namespace_of(before))
        return bad_request(
            fmt::format("the namespace of the object ({}) does not match the namespace on the URL "
                        "({})",
                        namespace_of(after), namespace_of(before)));
    return decode_object(def, std::move(*patched), field_validation);
}

}  // namespace muster::apiserver
