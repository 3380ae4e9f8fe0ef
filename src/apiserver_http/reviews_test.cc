#include <gmock/gmock.h>

#include "apiserver_http/front_fixture.h"
#include "kube/values/time.h"

namespace muster::apiserver_http::reviews_test {
namespace {

using testing::HasSubstr;

constexpr const char* kAuthorization = "/apis/authorization.k8s.io/v1";
constexpr const char* kAuthentication = "/apis/authentication.k8s.io/v1";

class ReviewsTest : public FrontFixture {
  protected:
    ReviewsTest() : FrontFixture({.default_roles = true}) {
        post("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
             R"({"metadata":{"name":"r"},"rules":[{"verbs":["get","list"],"apiGroups":[""],
             "resources":["pods"]}]})");
        post("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
             R"({"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"},
             "subjects":[{"kind":"User","name":"bob"}]})");
    }

    /// The status of the review that `user` asks for; an empty user is the admin.
    json::value ask(std::string_view user, std::string path, std::string body) {
        const net::HttpResponse answer = user.empty()
                                             ? post(std::move(path), std::move(body))
                                             : as(user, "POST", std::move(path), std::move(body));
        EXPECT_EQ(answer.status, 201) << answer.body;
        return answer.status == 201 ? parsed(answer).at("status") : json::value(json::object());
    }
    json::value may_i(std::string_view user, std::string_view attributes) {
        return ask(user, std::string(kAuthorization) + "/selfsubjectaccessreviews",
                   fmt::format(R"({{"spec":{}}})", attributes));
    }
};

constexpr const char* kListPods =
    R"({"resourceAttributes":{"verb":"list","resource":"pods","namespace":"default"}})";
constexpr const char* kListAllPods = R"({"resourceAttributes":{"verb":"list","resource":"pods"}})";

TEST_F(ReviewsTest, WhatOneMayDoOneself) {
    const json::value bob = may_i("bob", kListPods);
    EXPECT_EQ(bob.at("allowed"), true);
    EXPECT_EQ(bob.at("reason"),
              "RBAC: allowed by RoleBinding \"b/default\" of Role \"r\" to User \"bob\"");
    EXPECT_EQ(may_i("bob", kListAllPods).at("allowed"), false);
    EXPECT_EQ(may_i("ann", kListPods).at("allowed"), false);
    EXPECT_EQ(may_i("", R"({"resourceAttributes":{"verb":"*","group":"*","resource":"*"}})")
                  .at("allowed"),
              true);
    EXPECT_EQ(
        may_i("bob", R"({"nonResourceAttributes":{"verb":"get","path":"/version"}})").at("allowed"),
        true);
    EXPECT_EQ(
        may_i("bob", R"({"nonResourceAttributes":{"verb":"get","path":"/metrics"}})").at("allowed"),
        false);
}

TEST_F(ReviewsTest, OnlySomeMayAskAboutOthers) {
    const std::string path = std::string(kAuthorization) + "/subjectaccessreviews";
    const std::string body =
        fmt::format(R"({{"spec":{{"user":"bob","resourceAttributes":{}}}}})",
                    R"({"verb":"list","resource":"pods","namespace":"default"})");
    EXPECT_EQ(ask("", path, body).at("allowed"), true);
    EXPECT_THAT(verdict(as("bob", "POST", path, body)),
                HasSubstr("cannot create resource \"subjectaccessreviews\""));
    EXPECT_EQ(ask("", path,
                  R"({"spec":{"groups":["system:masters"],"resourceAttributes":
                  {"verb":"delete","resource":"nodes"}}})")
                  .at("allowed"),
              true);
    const std::string local =
        std::string(kAuthorization) + "/namespaces/default/localsubjectaccessreviews";
    EXPECT_EQ(ask("", local, body).at("allowed"), true);
    EXPECT_THAT(
        verdict(post(local, R"({"spec":{"user":"bob","resourceAttributes":{"namespace":"a"}}})")),
        HasSubstr("must match metadata.namespace"));
}

TEST_F(ReviewsTest, QuestionsThatMakeNoSense) {
    const std::string self = std::string(kAuthorization) + "/selfsubjectaccessreviews";
    EXPECT_THAT(verdict(post(self, R"({"spec":{}})")), HasSubstr("exactly one of"));
    EXPECT_THAT(
        verdict(post(self, R"({"spec":{"resourceAttributes":{},"nonResourceAttributes":{}}})")),
        HasSubstr("cannot be specified in combination"));
    EXPECT_THAT(verdict(post(std::string(kAuthorization) + "/subjectaccessreviews",
                             R"({"spec":{"resourceAttributes":{"verb":"get"}}})")),
                HasSubstr("at least one of user or group must be specified"));
    EXPECT_EQ(
        reason(post(std::string(kAuthorization) + "/selfsubjectrulesreviews", R"({"spec":{}})")),
        "400 BadRequest");
    EXPECT_EQ(reason(post(self + "?fieldValidation=Strict", R"({"spec":{"x":1}})")),
              "400 BadRequest");
    EXPECT_EQ(reason(get(self)), "405 MethodNotAllowed");
    EXPECT_EQ(reason(get(self + "?watch=1")), "405 MethodNotAllowed");
    EXPECT_EQ(reason(get(self + "/a")), "405 MethodNotAllowed");
    EXPECT_EQ(reason(send(request("DELETE", self))), "405 MethodNotAllowed");
    EXPECT_EQ(reason(post(std::string(kAuthorization) + "/localsubjectaccessreviews", "{}")),
              "405 MethodNotAllowed");
    // In the process there is no such request: its sender would be unknown.
    EXPECT_EQ(apiserver::ServerFixture::post(self, R"({"spec":{}})").status, 405);
    EXPECT_EQ(apiserver::ServerFixture::get(self).status, 405);
}

TEST_F(ReviewsTest, TheRulesThatOneHas) {
    const json::value bob = ask("bob", std::string(kAuthorization) + "/selfsubjectrulesreviews",
                                R"({"spec":{"namespace":"default"}})");
    EXPECT_EQ(bob.at("incomplete"), false);
    EXPECT_THAT(json::serialize(bob.at("resourceRules")),
                HasSubstr(R"({"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]})"));
    EXPECT_THAT(json::serialize(bob.at("nonResourceRules")), HasSubstr("/version"));
    const json::value elsewhere =
        ask("bob", std::string(kAuthorization) + "/selfsubjectrulesreviews",
            R"({"spec":{"namespace":"kube-system"}})");
    EXPECT_THAT(json::serialize(elsewhere), testing::Not(HasSubstr("\"pods\"")));
    const json::value admin = ask("", std::string(kAuthorization) + "/selfsubjectrulesreviews",
                                  R"({"spec":{"namespace":"default"}})");
    EXPECT_EQ(admin.at("resourceRules").at(0).at("verbs"), json::array{"*"});
    send(request("DELETE", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/r"));
    const json::value broken = ask("bob", std::string(kAuthorization) + "/selfsubjectrulesreviews",
                                   R"({"spec":{"namespace":"default"}})");
    EXPECT_EQ(broken.at("incomplete"), true);
    EXPECT_EQ(broken.at("evaluationError"), "role.rbac.authorization.k8s.io \"r\" not found");
}

TEST_F(ReviewsTest, OfMoreRulesThanAreListedItSaysSo) {
    const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/";
    std::string rules;
    for (int i = 0; i < 12'000; ++i)
        rules += fmt::format(R"({}{{"verbs":["get"],"apiGroups":["g"],"resources":["r{}"]}})",
                             i == 0 ? "" : ",", i);
    ASSERT_EQ(
        post(rbac + "roles", R"({"metadata":{"name":"wide"},"rules":[)" + rules + "]}").status,
        201);
    post(rbac + "rolebindings",
         R"({"metadata":{"name":"wide"},"roleRef":{"kind":"Role","name":"wide"},
         "subjects":[{"kind":"User","name":"ann"}]})");
    const json::value ann = ask("ann", std::string(kAuthorization) + "/selfsubjectrulesreviews",
                                R"({"spec":{"namespace":"default"}})");
    EXPECT_EQ(ann.at("incomplete"), true);
    EXPECT_EQ(ann.at("evaluationError"), "there are more rules than are listed");
    EXPECT_GT(ann.at("resourceRules").as_array().size(), 9'000);
    EXPECT_LT(ann.at("resourceRules").as_array().size(), 12'000);
    EXPECT_EQ(may_i("ann", R"({"resourceAttributes":{"verb":"get","group":"g",
                    "resource":"r11999","namespace":"default"}})")
                  .at("allowed"),
              true);
}

TEST_F(ReviewsTest, WhoOneIs) {
    const std::string path = std::string(kAuthentication) + "/selfsubjectreviews";
    EXPECT_EQ(ask("", path, "{}").at("userInfo"), json::parse(R"({"username":"muster-admin",
                              "groups":["system:masters","system:authenticated"]})"));
    const net::HttpResponse answer = send(request("POST", path, "{}",
                                                  {{"Impersonate-User", "bob"},
                                                   {"Impersonate-Uid", "7"},
                                                   {"Impersonate-Extra-a", "b"},
                                                   {"Content-Type", "application/json"}}));
    EXPECT_EQ(parsed(answer).at("status").at("userInfo"),
              json::parse(R"({"username":"bob","uid":"7","groups":["system:authenticated"],
                              "extra":{"a":["b"]}})"));
    EXPECT_EQ(parsed(answer).at("kind"), "SelfSubjectReview");
    EXPECT_EQ(parsed(answer).at("metadata").at("creationTimestamp"),
              json::value(kube::format_time(clock.wall_now())));
}

TEST_F(ReviewsTest, ATokenOfTheAdmin) {
    const std::string path = std::string(kAuthentication) + "/tokenreviews";
    const json::value good = ask("", path, R"({"spec":{"token":"secret"}})");
    EXPECT_EQ(good.at("authenticated"), true);
    EXPECT_EQ(good.at("user").at("username"), "muster-admin");
    const json::value bad = ask("", path, R"({"spec":{"token":"secre"}})");
    EXPECT_FALSE(bad.as_object().contains("authenticated"));
    EXPECT_TRUE(bad.as_object().contains("error"));
    EXPECT_EQ(reason(post(path, R"({"spec":{}})")), "400 BadRequest");
    EXPECT_EQ(reason(as("bob", "POST", path, R"({"spec":{"token":"secret"}})")), "403 Forbidden");
}

TEST_F(ReviewsTest, AreListedAsWhatCanOnlyBeCreated) {
    const json::value list = parsed(get("/apis/authorization.k8s.io/v1"));
    for (const json::value& row : list.at("resources").as_array())
        EXPECT_EQ(row.at("verbs"), json::array{"create"}) << row.at("name");
    EXPECT_EQ(list.at("resources").as_array().size(), 4);
    EXPECT_THAT(get("/openapi/v3/apis/authentication.k8s.io/v1").body,
                HasSubstr("io.k8s.api.authentication.v1.TokenReview"));
}

}  // namespace
}  // namespace muster::apiserver_http::reviews_test
