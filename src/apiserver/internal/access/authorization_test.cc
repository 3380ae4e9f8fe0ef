#include "apiserver/internal/access/authorization.h"

#include <gtest/gtest.h>

#include "apiserver/internal/access/authentication.h"
#include "apiserver/internal/crd.h"

namespace muster::apiserver {
namespace {

class AuthorizationTest : public ::testing::Test {
  protected:
    AuthorizationTest() {
        for (DefPtr& def : builtin_types(read_)) registry_.add(std::move(def));
    }

    Action action(std::string_view path, kube::Method method, bool watch = false) {
        Answer<Target> target = route(registry_, path);
        EXPECT_TRUE(target.has_value()) << path;
        return action_on(*target, method, watch);
    }
    std::string refusal(const Action& action) {
        const Answer<void> answer = authorize(bob_, action);
        return answer ? "allowed" : answer.error().error.message();
    }

    ReadDefinition read_;
    Registry registry_;
    User bob_{"bob", {}, {"system:authenticated"}};
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
    EXPECT_TRUE(authorize(root_, action("/api/v1/namespaces/a/secrets", kube::Method::kDelete)));
    EXPECT_TRUE(authorize(root_, action_on_path("/metrics", kube::Method::kGet)));
}

TEST_F(AuthorizationTest, OthersMayAskWhetherTheServerLives) {
    for (const char* open : {"/healthz", "/livez", "/readyz", "/livez/ping", "/version"})
        EXPECT_EQ(refusal(action_on_path(open, kube::Method::kGet)), "allowed") << open;
    for (const char* closed : {"/healthzz", "/metrics", "/apis", "/api", "/openapi/v3", ""})
        EXPECT_NE(refusal(action_on_path(closed, kube::Method::kGet)), "allowed") << closed;
}

TEST_F(AuthorizationTest, RefusalsReadAsThoseOfARealServer) {
    using kube::Method;
    EXPECT_EQ(refusal(action("/api/v1/namespaces/default/pods", Method::kGet)),
              "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in "
              "the namespace \"default\"");
    EXPECT_EQ(refusal(action("/api/v1/pods", Method::kGet)),
              "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" at "
              "the cluster scope");
    EXPECT_EQ(refusal(action("/api/v1/namespaces/default/pods/x/log", Method::kGet)),
              "pods \"x\" is forbidden: User \"bob\" cannot get resource \"pods/log\" in API group "
              "\"\" in the namespace \"default\"");
    EXPECT_EQ(refusal(action_on_path("/metrics", Method::kGet)),
              "forbidden: User \"bob\" cannot get path \"/metrics\"");
}

}  // namespace
}  // namespace muster::apiserver
