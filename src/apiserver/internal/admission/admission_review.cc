#include "apiserver/internal/admission/admission_review.h"

#include "apiserver/authentication/user_info.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/requests/json_body.h"
#include "kube/objects/api_status.h"
#include "kube/values/base64.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kGroup = "admission.k8s.io/";
constexpr int kBadRequest = 400;

json::object kind_of(const kube::ResourceType& type) {
    return {{"group", type.group}, {"version", type.version}, {"kind", type.kind}};
}
json::object resource_of(const kube::ResourceType& type) {
    return {{"group", type.group}, {"version", type.version}, {"resource", type.plural}};
}

std::string_view options_kind(Operation operation) {
    switch (operation) {
        case Operation::kCreate:
            return "CreateOptions";
        case Operation::kUpdate:
            return "UpdateOptions";
        case Operation::kDelete:
            return "DeleteOptions";
    }
    return {};
}

/// It is no AdmissionReview.
Error no_review(std::string_view why) {
    return Error(Code::kInvalid, fmt::format("failed to call webhook: {}", why));
}

Error invalid_response(std::string_view why) {
    return Error(Code::kInvalid, fmt::format("received invalid webhook response: {}", why));
}

/// The patch of a response; empty: there is none. In v1beta1 its type was not looked at.
Result<std::string_view> patch_in(const json::object& response, bool v1, bool may_patch) {
    const std::string_view patch = string_at(response, "patch");
    if (!v1) return may_patch ? patch : std::string_view();
    const std::string_view type = string_at(response, "patchType");
    const auto wrong = [](std::string_view why) { return invalid_response(why); };
    if (!may_patch && !patch.empty())
        return wrong("validating webhook may not return response.patch");
    if (!may_patch && !type.empty())
        return wrong("validating webhook may not return response.patchType");
    if (!patch.empty() && type.empty())
        return wrong("webhook returned response.patch but not response.patchType");
    if (patch.empty() && !type.empty())
        return wrong("webhook returned response.patchType but not response.patch");
    if (!type.empty() && type != "JSONPatch")
        return wrong(fmt::format("response.patchType is \"{}\": only JSONPatch is known", type));
    return patch;
}

/// In the words of k8s.io/apiserver pkg/admission/plugin/webhook/errors.
StatusError denial_of(const json::object* status, std::string_view webhook) {
    json::object body = status == nullptr ? json::object() : *status;
    body["kind"] = "Status";
    body["status"] = "Failure";
    const auto code = int_at(body, "code").value_or(0);
    body["code"] = code < kBadRequest ? kBadRequest : code;
    const std::string_view message = string_at(body, "message");
    const std::string_view reason = string_at(body, "reason");
    const std::string by = fmt::format("admission webhook \"{}\" denied the request", webhook);
    body["message"] = !message.empty()  ? fmt::format("{}: {}", by, message)
                      : !reason.empty() ? fmt::format("{}: {}", by, reason)
                                        : by + " without explanation";
    const int http = static_cast<int>(body["code"].to_number<std::int64_t>());
    return {kube::error_from_status(http, body), kube::StatusDetails{}, false, {}};
}

}  // namespace

json::object admission_request(const ReviewQuestion& question) {
    json::object request{
        {"kind", kind_of(question.type)},
        {"resource", resource_of(question.type)},
        {"requestKind", kind_of(question.requested)},
        {"requestResource", resource_of(question.requested)},
        {"operation", to_string(question.operation)},
        {"userInfo", user_info(question.user)},
        {"dryRun", question.dry_run},
        {"options",
         {{"kind", options_kind(question.operation)}, {"apiVersion", "meta.k8s.io/v1"}}}};
    if (!question.subresource.empty()) {
        request["subResource"] = question.subresource;
        request["requestSubResource"] = question.subresource;
    }
    if (!question.name.empty()) request["name"] = question.name;
    if (!question.namespace_.empty()) request["namespace"] = question.namespace_;
    return request;
}

std::string review_text(const ReviewQuestion& question, std::string_view review_version) {
    json::object request = admission_request(question);
    request["uid"] = question.uid;
    for (const auto& [field, object] :
         {std::pair("object", question.object), std::pair("oldObject", question.before)}) {
        json::value& shown = request[field];
        if (object != nullptr) shown = *object;
    }
    return json::serialize(json::object{{"kind", "AdmissionReview"},
                                        {"apiVersion", fmt::format("{}{}", kGroup, review_version)},
                                        {"request", std::move(request)}});
}

Result<ReviewVerdict> read_review(std::string_view text, std::string_view webhook,
                                  const ReviewQuestion& question, std::string_view review_version,
                                  bool may_patch) {
    const auto review = parse_json_body(text);
    if (!review) return no_review(review.error().error.message());
    // For Go, null is an object without fields, and one that does not say what it is may be anything.
    static const json::value kNothing = json::object();
    const bool nothing = review->value != nullptr && review->value->is_null();
    const json::object* fields = nothing                    ? kNothing.if_object()
                                 : review->value == nullptr ? nullptr
                                                            : review->value->if_object();
    if (fields == nullptr) return no_review("couldn't get version/kind: it is not a JSON object");
    const std::string_view version = string_at(*fields, "apiVersion");
    const std::string_view kind = string_at(*fields, "kind");
    const std::string wanted = fmt::format("{}{}", kGroup, review_version);
    if ((kind != "AdmissionReview" && !kind.empty()) || (version != wanted && !version.empty()))
        return no_review(fmt::format("it is a \"{}\" of \"{}\", not an AdmissionReview of \"{}\"",
                                     kind, version, wanted));
    const json::object* response = object_at(*fields, "response");
    if (response == nullptr) return invalid_response("webhook response was absent");
    if (review_version == "v1" && string_at(*response, "uid") != question.uid)
        return invalid_response(fmt::format("expected response.uid=\"{}\", got \"{}\"",
                                            question.uid, string_at(*response, "uid")));
    ReviewVerdict verdict;
    verdict.warnings = strings_at(*response, "warnings");
    TRY(const std::string_view patch, patch_in(*response, review_version == "v1", may_patch));
    if (!bool_at(*response, "allowed")) {
        verdict.denial = denial_of(object_at(*response, "status"), webhook);
        return verdict;
    }
    if (patch.empty()) return verdict;
    const auto decoded = kube::base64_decode(patch);
    if (!decoded) return no_review("response.patch is not base64");
    const auto parsed = parse_json_body(*decoded);
    if (parsed && parsed->value != nullptr)
        verdict.patch = *parsed->value;
    else
        verdict.patch_is_no_json = true;
    return verdict;
}

}  // namespace muster::apiserver
