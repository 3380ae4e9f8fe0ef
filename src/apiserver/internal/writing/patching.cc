#include "apiserver/internal/writing/patching.h"

#include "apiserver/objects/field_errors.h"
#include "apiserver/objects/json_access.h"
#include "kube/patch/patch.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMaxJsonPatchOperations = 10'000;

/// Room for what a patch adds.
constexpr std::size_t kSpareForPatch = 512;

Result<kube::Document> patched_document(const ResourceDef& def, const json::value& current,
                                        bool status_only, kube::ContentType type,
                                        const json::value& patch) {
    if (type == kube::ContentType::kJsonPatch) {
        TRY(const json::value patched, kube::apply_json_patch(current, patch));
        return kube::Document(patched);
    }
    const std::size_t spare = kube::tree_bytes(patch) + kSpareForPatch;
    kube::Document next =
        status_only ? status_part(current.get_object(), spare) : kube::Document(current, spare);
    if (type == kube::ContentType::kMergePatch)
        TRY_VOID(kube::merge_patch_into(next.value(), patch));
    else
        TRY_VOID(kube::strategic_merge_patch_into(next.value(), patch, *def.schema));
    return next;
}

/// A patch may leave out the namespace, but not change it.
StatusResult<void> check_patched_name(const ResourceDef& def, const json::object& before,
                                      json::object& after) {
    if (name_of(after).empty())
        return bad_request(
            fmt::format("the name of the object ({} based on URL) was undeterminable: name must be "
                        "provided",
                        name_of(before)));
    if (name_of(after) != name_of(before))
        return bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                        name_of(after), name_of(before)));
    if (def.type.namespaced && namespace_of(after).empty())
        ensure_object(after, "metadata")["namespace"] = namespace_of(before);
    if (namespace_of(after) != namespace_of(before))
        return bad_request(
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
    return {};
}

}  // namespace

StatusResult<void> check_patch_type(const ResourceDef& def, kube::ContentType type,
                                    const json::value& patch, bool applies) {
    switch (type) {
        case kube::ContentType::kJson:
            return unsupported_media_type("415: Unsupported Media Type");
        case kube::ContentType::kApplyPatch:
            if (applies) return {};
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

StatusResult<DecodedObject> apply_patch(const ResourceDef& def, const json::value& current,
                                        const std::string& subresource, kube::ContentType type,
                                        const json::value& patch,
                                        kube::FieldValidation field_validation) {
    // A status is patched many times in an object's life, and the rest would not be kept.
    const bool status_only = subresource == "status" && type != kube::ContentType::kJsonPatch;
    Result<kube::Document> patched = patched_document(def, current, status_only, type, patch);
    if (!patched) {
        if (patched.error().code() == Code::kInvalid && type == kube::ContentType::kJsonPatch)
            // A real server's words, followed by the reason, which it does not give.
            return StatusError{
                Error(Code::kInvalid,
                      "the server rejected our request due to an error in our request: " +
                          patched.error().message()),
                kube::StatusDetails{},
                false,
                {}};
        return std::move(patched.error());
    }
    const json::object& before = current.get_object();
    if (!patched->value().is_object())
        return bad_request("error decoding patch: the result is not an object");
    json::object& after = patched->object();
    if (status_only) after.erase("spec");
    // The patch refers to the served version, the object may be stored in another.
    if ((!def.storage_version || def.stored_in_several) &&
        string_at(after, "apiVersion") == string_at(before, "apiVersion"))
        after["apiVersion"] = def.type.api_version();
    TRY_VOID(check_patched_name(def, before, after));
    return decode_object(def, std::move(*patched), field_validation);
}

}  // namespace muster::apiserver
