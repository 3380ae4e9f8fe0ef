#include "apiserver/authorization/authorization.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "apiserver/authorization/authorization_fixture.h"
#include "base/test_growth.h"

namespace muster::apiserver::authorization_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class AuthorizationTest : public AuthorizationFixture {
  protected:
    Action action(std::string_view path, kube::Method method, bool watch = false,
                  std::string_view field_selector = "") {
        StatusResult<Target> target = route(registry_, path);
        EXPECT_TRUE(target.has_value()) << path;
        return action_on(*target, method, watch, field_selector);
    }
    std::string status_error(const Action& action) { return status_error(bob_, action); }
    std::string status_error(const User& user, const Action& action) {
        const StatusResult<void> answer = authorize(cache_, user, action);
        return answer ? "allowed" : answer.error().error.message();
    }
    /// `objects`: of one resource, as JSON.
    void load(const kube::ResourceType& type, std::initializer_list<std::string_view> objects) {
        std::vector<json::value> parsed;
        for (const std::string_view text : objects)
            parsed.push_back(json::parse(std::string(text)));
        AuthorizationFixture::load(type, std::move(parsed));
    }

    User root_{"root", {}, {std::string(kMasters)}};
};

TEST_F(AuthorizationTest, VerbsOfRequests) {
    using kube::Method;
    const std::string pods = "/api/v1/namespaces/a/pods";
    EXPECT_EQ(action(pods, Method::kGet).verb, "list");
    EXPECT_EQ(action(pods, Method::kGet, true).verb, "watch");
    EXPECT_EQ(action(pods, Method::kPost).verb, "create");
    EXPECT_EQ(action(pods, Method::kDelete).verb, "deletecollection");
    EXPECT_EQ(action(pods + "/x", Method::kGet).verb, "get");
    EXPECT_EQ(action(pods + "/x", Method::kPut).verb, "update");
    EXPECT_EQ(action(pods + "/x", Method::kPatch).verb, "patch");
    EXPECT_EQ(action(pods + "/x", Method::kDelete).verb, "delete");
    EXPECT_EQ(action(pods + "/x/log", Method::kGet).subresource, "log");
    EXPECT_EQ(action_on_path("/apis", Method::kGet).verb, "get");
    EXPECT_EQ(action_on_path("/apis", Method::kPost).verb, "post");
}

TEST_F(AuthorizationTest, MastersMayDoEverything) {
    EXPECT_TRUE(
        authorize(cache_, root_, action("/api/v1/namespaces/a/secrets", kube::Method::kDelete)));
    EXPECT_TRUE(authorize(cache_, root_, action_on_path("/metrics", kube::Method::kGet)));
}

TEST_F(AuthorizationTest, OthersMayAskWhetherTheServerLives) {
    for (const char* open : {"/healthz", "/livez", "/readyz"})
        EXPECT_EQ(status_error(action_on_path(open, kube::Method::kGet)), "allowed") << open;
    for (const char* closed :
         {"/healthzz", "/livez/ping", "/metrics", "/apis", "/api", "/openapi/v3", "/version", ""})
        EXPECT_NE(status_error(action_on_path(closed, kube::Method::kGet)), "allowed") << closed;
}

TEST_F(AuthorizationTest, RefusalsReadAsThoseOfARealServer) {
    using kube::Method;
    EXPECT_EQ(status_error(action("/api/v1/namespaces/default/pods", Method::kGet)),
              "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in "
              "the namespace \"default\"");
    EXPECT_EQ(status_error(action("/api/v1/pods", Method::kGet)),
              "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" at "
              "the cluster scope");
    EXPECT_EQ(status_error(action("/api/v1/namespaces/default/pods/x/log", Method::kGet)),
              "pods \"x\" is forbidden: User \"bob\" cannot get resource \"pods/log\" in API group "
              "\"\" in the namespace \"default\"");
    EXPECT_EQ(status_error(action_on_path("/metrics", Method::kGet)),
              "forbidden: User \"bob\" cannot get path \"/metrics\"");
}

TEST_F(AuthorizationTest, ANamespaceIsSeenByWhomItsRolesLet) {
    const Action get = action("/api/v1/namespaces/a", kube::Method::kGet);
    EXPECT_EQ(get.namespace_, "a");
    EXPECT_EQ(get.name, "a");
    EXPECT_EQ(action("/api/v1/namespaces", kube::Method::kGet).namespace_, "");
}

TEST_F(AuthorizationTest, ACollectionThatIsNarrowedToANameCountsAsThatObject) {
    using kube::Method;
    const std::string pods = "/api/v1/namespaces/a/pods";
    EXPECT_EQ(action(pods, Method::kGet, true, "metadata.name=x").name, "x");
    EXPECT_EQ(action(pods, Method::kDelete, false, "status.phase=Failed,metadata.name=x").name,
              "x");
    EXPECT_EQ(action(pods, Method::kGet, false, "metadata.name!=x").name, "");
    EXPECT_EQ(action(pods, Method::kGet, false, "metadata.name=x=y").name, "");
    EXPECT_EQ(action(pods, Method::kPost, false, "metadata.name=x").name, "");
    EXPECT_EQ(action(pods + "/y", Method::kGet, false, "metadata.name=x").name, "y");
}

constexpr const char* kReader = R"({"metadata":{"name":"reader","namespace":"a"},
    "rules":[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]})";
constexpr const char* kClusterReader = R"({"metadata":{"name":"reader"},
    "rules":[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]})";

TEST_F(AuthorizationTest, ARoleIsGoodInItsNamespace) {
    using kube::Method;
    load(kRoles, {kReader});
    load(kRoleBindings, {R"({"metadata":{"name":"b","namespace":"a"},
        "roleRef":{"kind":"Role","name":"reader"},"subjects":[{"kind":"User","name":"bob"}]})"});
    EXPECT_EQ(status_error(action("/api/v1/namespaces/a/pods", Method::kGet)), "allowed");
    EXPECT_NE(status_error(action("/api/v1/namespaces/b/pods", Method::kGet)), "allowed");
    EXPECT_NE(status_error(action("/api/v1/pods", Method::kGet)), "allowed");
    EXPECT_NE(status_error(action("/api/v1/namespaces/a/pods", Method::kGet, true)), "allowed");
    EXPECT_NE(status_error({"ann", {}, {}}, action("/api/v1/namespaces/a/pods", Method::kGet)),
              "allowed");
    EXPECT_EQ(decide(cache_, bob_, action("/api/v1/namespaces/a/pods", Method::kGet)).reason,
              "RBAC: allowed by RoleBinding \"b/a\" of Role \"reader\" to User \"bob\"");
}

TEST_F(AuthorizationTest, AClusterRoleIsGoodWhereItIsBound) {
    using kube::Method;
    load(kClusterRoles, {kClusterReader});
    load(kRoleBindings, {R"({"metadata":{"name":"b","namespace":"a"},
        "roleRef":{"kind":"ClusterRole","name":"reader"},
        "subjects":[{"kind":"Group","name":"dev"}]})"});
    const User dev{"dora", {}, {"dev"}};
    EXPECT_EQ(status_error(dev, action("/api/v1/namespaces/a/pods", Method::kGet)), "allowed");
    EXPECT_NE(status_error(dev, action("/api/v1/namespaces/b/pods", Method::kGet)), "allowed");
    EXPECT_NE(status_error(dev, action("/api/v1/pods", Method::kGet)), "allowed");
    load(kClusterRoleBindings, {R"({"metadata":{"name":"all"},
        "roleRef":{"kind":"ClusterRole","name":"reader"},
        "subjects":[{"kind":"Group","name":"dev"}]})"});
    EXPECT_EQ(status_error(dev, action("/api/v1/namespaces/b/pods", Method::kGet)), "allowed");
    EXPECT_EQ(status_error(dev, action("/api/v1/pods", Method::kGet)), "allowed");
}

TEST_F(AuthorizationTest, SubjectsThatAreServiceAccounts) {
    using kube::Method;
    load(kClusterRoles, {kClusterReader});
    load(kRoleBindings, {R"({"metadata":{"name":"b","namespace":"a"},
        "roleRef":{"kind":"ClusterRole","name":"reader"},
        "subjects":[{"kind":"ServiceAccount","name":"robot"},
                    {"kind":"ServiceAccount","name":"robot","namespace":"c"}]})"});
    load(kClusterRoleBindings, {R"({"metadata":{"name":"none"},
        "roleRef":{"kind":"ClusterRole","name":"reader"},
        "subjects":[{"kind":"ServiceAccount","name":"robot"}]})"});
    const Action list = action("/api/v1/namespaces/a/pods", Method::kGet);
    EXPECT_EQ(status_error({"system:serviceaccount:a:robot", {}, {}}, list), "allowed");
    EXPECT_EQ(status_error({"system:serviceaccount:c:robot", {}, {}}, list), "allowed");
    EXPECT_NE(status_error({"system:serviceaccount:b:robot", {}, {}}, list), "allowed");
    EXPECT_NE(status_error({"robot", {}, {}}, list), "allowed");
    EXPECT_NE(status_error({"system:serviceaccount:b:robot", {}, {}},
                           action("/api/v1/namespaces/b/pods", Method::kGet)),
              "allowed")
        << "an account of no namespace is nobody";
}

TEST_F(AuthorizationTest, RolesThatAreNotThereAreNamedInTheRefusal) {
    load(kRoleBindings, {R"({"metadata":{"name":"b","namespace":"a"},
        "roleRef":{"kind":"Role","name":"none"},"subjects":[{"kind":"User","name":"bob"}]})"});
    load(kClusterRoleBindings, {R"({"metadata":{"name":"c"},
        "roleRef":{"kind":"ClusterRole","name":"nil"},"subjects":[{"kind":"User","name":"bob"}]})"});
    EXPECT_EQ(status_error(action("/api/v1/pods", kube::Method::kGet)),
              "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" at "
              "the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io \"nil\" not found");
    EXPECT_EQ(status_error(action("/api/v1/namespaces/a/pods", kube::Method::kGet)),
              "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in "
              "the namespace \"a\": RBAC: [clusterrole.rbac.authorization.k8s.io \"nil\" not "
              "found, role.rbac.authorization.k8s.io \"none\" not found]");
    EXPECT_EQ(status_error(action_on_path("/metrics", kube::Method::kGet)),
              "forbidden: User \"bob\" cannot get path \"/metrics\": RBAC: "
              "clusterrole.rbac.authorization.k8s.io \"nil\" not found");
}

TEST_F(AuthorizationTest, TheFirstSubjectThatMatchesIsNamed) {
    load(kClusterRoles, {kClusterReader});
    struct Case {
        const char* subjects;
        const char* expected;  ///< empty: not allowed
    };
    const User account{"system:serviceaccount:a:x", {}, {"g1", "g2"}};
    for (const Case& c :
         {Case{R"([{"kind":"Group","name":"g2"},{"kind":"Group","name":"g1"}])", "Group \"g2\""},
          Case{R"([{"kind":"User","name":"y"},{"kind":"ServiceAccount","name":"x","namespace":"a"},
                   {"kind":"Group","name":"g1"}])",
               "ServiceAccount \"x/a\""},
          Case{R"([{"kind":"Group","name":"g1"},{"kind":"ServiceAccount","name":"x"}])",
               "Group \"g1\""},
          Case{R"([{"kind":"ServiceAccount","name":"x"}])", "ServiceAccount \"x/a\""},
          Case{R"([{"kind":"User","name":"system:serviceaccount:a:x","namespace":"any"}])",
               "User \"system:serviceaccount:a:x\""},
          Case{R"([{"kind":"ServiceAccount","name":"x","namespace":"b"},{"kind":"Group","name":"g"},
                   {"kind":"User","name":"x"},{"kind":"User","name":"g1"},{"kind":"Group","name":"g"},
                   {"kind":"ServiceAccount","name":"g1","namespace":"a"}])",
               ""}}) {
        load(kRoleBindings, {fmt::format(R"({{"metadata":{{"name":"b","namespace":"a"}},
            "roleRef":{{"kind":"ClusterRole","name":"reader"}},"subjects":{}}})",
                                         c.subjects)});
        const Decision decision =
            decide(cache_, account, action("/api/v1/namespaces/a/pods", kube::Method::kGet));
        EXPECT_EQ(decision.allowed, *c.expected != 0) << c.subjects;
        EXPECT_THAT(decision.reason, HasSubstr(c.expected)) << c.subjects;
    }
}

TEST_F(AuthorizationTest, BindingsOfOthersCostLittle) {
    const User many{"bob", {}, std::vector<std::string>(9999, "g")};
    EXPECT_LE(
        growth_by_ten(
            100,
            [&](std::size_t size) {
                json::array subjects;
                for (std::size_t i = 0; i < size * 10; ++i)
                    for (const char* kind : {"User", "Group"})
                        subjects.push_back(
                            json::object{{"kind", kind}, {"name", fmt::format("other{}", i)}});
                std::vector<json::value> bindings;
                for (int i = 0; i < 3; ++i)
                    bindings.push_back(json::object{
                        {"metadata", {{"name", fmt::format("b{}", i)}, {"namespace", "a"}}},
                        {"roleRef", {{"kind", "Role"}, {"name", fmt::format("none{}", i)}}},
                        {"subjects", subjects}});
                AuthorizationFixture::load(kRoleBindings, std::move(bindings));
                for (int i = 0; i < 50; ++i)
                    EXPECT_FALSE(decide(cache_, many,
                                        action("/api/v1/namespaces/a/pods", kube::Method::kGet))
                                     .allowed);
            }),
        kLinearGrowth);
}

TEST_F(AuthorizationTest, WhatADecisionLooksAtHasALimit) {
    json::array rules;
    for (int i = 0; i < 20'000; ++i)
        rules.push_back(json::object{{"verbs", {"get"}},
                                     {"apiGroups", {""}},
                                     {"resources", {"secrets"}},
                                     {"resourceNames", {fmt::format("s{}", i)}}});
    std::vector<json::value> roles;
    std::vector<json::value> bindings;
    for (int i = 0; i < 4; ++i) {
        const std::string name = fmt::format("r{}", i);
        if (i == 3)
            rules = {json::object{{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}}};
        const json::object meta{{"name", name}, {"namespace", "a"}};
        roles.push_back(json::object{{"metadata", meta}, {"rules", rules}});
        bindings.push_back(json::object{{"metadata", meta},
                                        {"roleRef", {{"kind", "Role"}, {"name", name}}},
                                        {"subjects", {{{"kind", "User"}, {"name", "bob"}}}}});
    }
    AuthorizationFixture::load(kRoles, std::move(roles));
    AuthorizationFixture::load(kRoleBindings, std::move(bindings));
    EXPECT_THAT(status_error(action("/api/v1/namespaces/a/pods", kube::Method::kGet)),
                EndsWith(": RBAC: the roles of user \"bob\" have more than 4194304 bytes together, "
                         "and what is beyond that does not count"));
    EXPECT_EQ(status_error(action("/api/v1/namespaces/a/secrets/s19999", kube::Method::kGet)),
              "allowed")
        << "what comes first counts";
}

TEST_F(AuthorizationTest, MissingRolesAreListedUpToALimit) {
    std::vector<json::value> bindings;
    for (int i = 0; i < 1000; ++i)
        bindings.push_back(
            json::object{{"metadata", {{"name", fmt::format("b{}", i)}, {"namespace", "a"}}},
                         {"roleRef", {{"kind", "Role"}, {"name", fmt::format("none{}", i)}}},
                         {"subjects", {{{"kind", "User"}, {"name", "bob"}}}}});
    AuthorizationFixture::load(kRoleBindings, std::move(bindings));
    const std::string refused =
        status_error(action("/api/v1/namespaces/a/pods", kube::Method::kGet));
    EXPECT_THAT(refused, HasSubstr("\"none0\" not found, "));
    EXPECT_LT(refused.size(), 10'000U);
}

}  // namespace
}  // namespace muster::apiserver::authorization_test
