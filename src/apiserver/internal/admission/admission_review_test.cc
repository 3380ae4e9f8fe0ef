#include "apiserver/internal/admission/admission_review.h"

#include <gtest/gtest.h>

#include "apiserver/objects/json_access.h"
#include "apiserver/requests/json_body.h"
#include "kube/values/base64.h"

namespace muster::apiserver::admission_review_test {
namespace {

TEST(AdmissionReview, AsksWithWhatIsKnown) {
    const json::value pod = *parse_json_body(R"({"kind":"Pod","metadata":{"name":"p"}})")->value;
    const std::string text = review_text({.uid = "u-1",
                                          .operation = Operation::kUpdate,
                                          .type = {"", "v1", "pods", "Pod", true},
                                          .requested = {"", "v1", "pods", "Pod", true},
                                          .subresource = "status",
                                          .namespace_ = "ns",
                                          .name = "p",
                                          .user = {.name = "jane", .uid = "7", .groups = {"g"}},
                                          .dry_run = true,
                                          .object = &pod,
                                          .before = nullptr},
                                         "v1");
    EXPECT_EQ(*parse_json_body(text)->value, *parse_json_body(R"({
        "kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{
        "uid":"u-1","operation":"UPDATE","name":"p","namespace":"ns","dryRun":true,
        "kind":{"group":"","version":"v1","kind":"Pod"},
        "requestKind":{"group":"","version":"v1","kind":"Pod"},
        "resource":{"group":"","version":"v1","resource":"pods"},
        "requestResource":{"group":"","version":"v1","resource":"pods"},
        "subResource":"status","requestSubResource":"status",
        "userInfo":{"username":"jane","uid":"7","groups":["g"]},
        "object":{"kind":"Pod","metadata":{"name":"p"}},"oldObject":null,
        "options":{"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1"}}})")
                                                  ->value);
}

std::string answer(std::string_view response) {
    return fmt::format(
        R"({{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{}}})",
        response);
}

struct DenialCase {
    const char* status;
    const char* message;
    int code;
};

const ReviewQuestion kQuestion = [] {
    ReviewQuestion question;
    question.uid = "u";
    return question;
}();

TEST(AdmissionReview, ADenialSaysWhatTheWebhookSaid) {
    // k8s.io/apiserver pkg/admission/plugin/webhook/errors/statuserror_test.go
    const std::vector<DenialCase> cases = {
        {R"({"message":"no","code":422,"reason":"Invalid"})",
         "admission webhook \"w\" denied the request: no", 422},
        {R"({"reason":"Forbidden","code":403})",
         "admission webhook \"w\" denied the request: Forbidden", 403},
        {R"({})", "admission webhook \"w\" denied the request without explanation", 400},
        {R"({"code":200,"message":"x"})", "admission webhook \"w\" denied the request: x", 400},
    };
    for (const DenialCase& one : cases) {
        const auto verdict = read_review(
            answer(fmt::format(R"({{"uid":"u","allowed":false,"status":{}}})", one.status)), "w",
            kQuestion, "v1", true);
        ASSERT_TRUE(verdict && verdict->denial) << one.status;
        EXPECT_EQ(verdict->denial->error.message(), one.message);
        EXPECT_EQ(to_response(*verdict->denial, nullptr, "").status, one.code) << one.status;
    }
}

TEST(AdmissionReview, WhatIsNoAnswerSaysWhy) {
    const std::string patch = kube::base64_encode("[]");
    const std::vector<std::pair<std::string, const char*>> cases = {
        {"x", "failed to call webhook: "},
        {"", "failed to call webhook: couldn't get version/kind"},
        {"null", "received invalid webhook response: webhook response was absent"},
        {"{}", "received invalid webhook response: webhook response was absent"},
        {"[]", "failed to call webhook: couldn't get version/kind"},
        {R"({"kind":"Pod","apiVersion":"v1"})", "it is a \"Pod\" of \"v1\""},
        {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})",
         "received invalid webhook response: webhook response was absent"},
        {answer(R"({"uid":"other","allowed":true})"),
         "received invalid webhook response: expected response.uid=\"u\", got \"other\""},
        {answer(R"({"uid":"u","allowed":true,"patch":"W10=","patchType":"Merge"})"),
         "patchType is \"Merge\""},
        {answer(R"({"uid":"u","allowed":true,"patch":"***","patchType":"JSONPatch"})"),
         "not base64"},
        {answer(R"({"uid":"u","allowed":true,"patch":"W10="})"),
         "webhook returned response.patch but not response.patchType"},
        {answer(R"({"uid":"u","allowed":true,"patchType":"JSONPatch"})"),
         "webhook returned response.patchType but not response.patch"},
        {R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{}})",
         "not an AdmissionReview of \"admission.k8s.io/v1\""},
    };
    for (const auto& [text, why] : cases) {
        const auto verdict = read_review(text, "w", kQuestion, "v1", true);
        ASSERT_FALSE(verdict) << text;
        EXPECT_NE(verdict.error().message().find(why), std::string::npos)
            << verdict.error().message();
    }
    EXPECT_FALSE(read_review(answer(R"({"uid":"u","allowed":true,"patch":"W10=",
                                        "patchType":"JSONPatch"})"),
                             "w", kQuestion, "v1", false));
}

TEST(AdmissionReview, APatchMayBeNoJson) {
    for (const char* text : {"x", " ", "[}"}) {
        const auto verdict =
            read_review(answer(fmt::format(
                            R"({{"uid":"u","allowed":true,"patch":"{}","patchType":"JSONPatch"}})",
                            kube::base64_encode(text))),
                        "w", kQuestion, "v1", true);
        ASSERT_TRUE(verdict) << text;
        EXPECT_TRUE(verdict->patch_is_no_json && !verdict->patch) << text;
    }
}

TEST(AdmissionReview, AnAllowanceMayPatchAndWarn) {
    const auto verdict =
        read_review(answer(R"({"uid":"u","allowed":true,"patch":"W10=","patchType":"JSONPatch",
                               "warnings":["old"]})"),
                    "w", kQuestion, "v1", true);
    ASSERT_TRUE(verdict);
    EXPECT_FALSE(verdict->denial);
    EXPECT_EQ(verdict->patch, json::value(json::array()));
    EXPECT_EQ(verdict->warnings, std::vector<std::string>{"old"});
}

}  // namespace
}  // namespace muster::apiserver::admission_review_test
