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

Error no_answer(std::string_view why) {
    return Error(Code::kInvalid, fmt::format("it did not answer with an AdmissionReview: {}", why));
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

std::string review_text(const ReviewQuestion& question, std::string_view review_version) {
    json::object request{
        {"uid", question.uid},
        {"kind", kind_of(question.type)},
        {"resource", resource_of(question.type)},
        {"requestKind", kind_of(question.requested)},
        {"requestResource", resource_of(question.requested)},
        {"operation", to_string(question.operation)},
        {"userInfo", user_info(question.user)},
        {"object", question.object == nullptr ? json::value() : *question.object},
        {"oldObject", question.before == nullptr ? json::value() : *question.before},
        {"dryRun", question.dry_run},
        {"options",
         {{"kind", options_kind(question.operation)}, {"apiVersion", "meta.k8s.io/v1"}}}};
    if (!question.subresource.empty()) {
        request["subResource"] = question.subresource;
        request["requestSubResource"] = question.subresource;
    }
    if (!question.name.empty()) request["name"] = question.name;
    if (!question.namespace_.empty()) request["namespace"] = question.namespace_;
    return json::serialize(json::object{{"kind", "AdmissionReview"},
                                        {"apiVersion", fmt::format("{}{}", kGroup, review_version)},
                                        {"request", std::move(request)}});
}

Result<ReviewVerdict> read_review(std::string_view text, std::string_view webhook,
                                  std::string_view uid, bool may_patch) {
    const auto review = parse_json_body(text);
    const json::object* fields = review ? review->value->if_object() : nullptr;
    if (fields == nullptr) return no_answer("it is not a JSON object");
    if (string_at(*fields, "kind") != "AdmissionReview" ||
        !string_at(*fields, "apiVersion").starts_with(kGroup))
        return no_answer(fmt::format("it is a \"{}\" of \"{}\"", string_at(*fields, "kind"),
                                     string_at(*fields, "apiVersion")));
    const json::object* response = object_at(*fields, "response");
    if (response == nullptr) return no_answer("it has no response");
    if (string_at(*response, "uid") != uid)
        return no_answer(fmt::format("response.uid is \"{}\" and not \"{}\", that of the request",
                                     string_at(*response, "uid"), uid));
    ReviewVerdict verdict;
    verdict.warnings = strings_at(*response, "warnings");
    if (!bool_at(*response, "allowed")) {
        verdict.denial = denial_of(object_at(*response, "status"), webhook);
        return verdict;
    }
    const std::string_view patch = string_at(*response, "patch");
    if (patch.empty()) return verdict;
    if (!may_patch) return no_answer("response.patch is set, but it may only validate");
    if (string_at(*response, "patchType") != "JSONPatch")
        return no_answer(fmt::format("response.patchType is \"{}\": only JSONPatch is known",
                                     string_at(*response, "patchType")));
    const auto decoded = kube::base64_decode(patch);
    if (!decoded) return no_answer("response.patch is not base64");
    const auto parsed = parse_json_body(*decoded);
    if (!parsed) return no_answer("response.patch is not JSON");
    verdict.patch = *parsed->value;
    return verdict;
}

}  // namespace muster::apiserver
