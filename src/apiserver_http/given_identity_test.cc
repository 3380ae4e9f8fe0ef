#include <gmock/gmock.h>

#include "apiserver/authentication/jwt.h"
#include "apiserver_http/front_fixture.h"

namespace muster::apiserver_http::given_identity_test {
namespace {

using testing::HasSubstr;

std::shared_ptr<const net::SigningKey> new_key() {
    return *net::SigningKey::parse(*net::make_signing_key());
}

/// A server whose keys and names come from elsewhere, as those of kube-apiserver do.
class GivenIdentityTest : public FrontFixture {
  protected:
    explicit GivenIdentityTest(apiserver::TokenRules rules = {},
                               apiserver::AccessOptions access = {})
        : FrontFixture({.default_roles = true,
                        .signing_key = key(),
                        .token_rules = std::move(rules),
                        .root_ca_pem = "the CA"},
                       {}, std::move(access)) {
        settle();
        apiserver::ServerFixture::post("/api/v1/namespaces/default/serviceaccounts",
                                       R"({"metadata":{"name":"robot"}})");
    }
    static const std::shared_ptr<const net::SigningKey>& key() {
        static const std::shared_ptr<const net::SigningKey> made = new_key();
        return made;
    }

    std::string token() {
        const net::HttpResponse answer =
            post("/api/v1/namespaces/default/serviceaccounts/robot/token", "{}");
        EXPECT_EQ(answer.status, 201) << answer.body;
        return std::string(parsed(answer).at("status").at("token").as_string());
    }
    static json::object claims(const std::string& token) {
        return *apiserver::verified_claims(*key(), token);
    }
    /// "401 Unauthorized", or as whom the sender is taken.
    std::string who(net::HttpHeaders headers) {
        const net::HttpResponse answer = send(request(
            "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", std::move(headers)));
        if (answer.status != 201) return reason(answer);
        return std::string(parsed(answer).at("status").at("userInfo").at("username").as_string());
    }
    std::string who_has(const std::string& token) {
        return who({{"Authorization", "Bearer " + token}});
    }

    static constexpr const char* kRobot = "system:serviceaccount:default:robot";
};

constexpr const char* kIssuer = "https://127.0.0.1:1/";

class GivenIssuerTest : public GivenIdentityTest {
  protected:
    GivenIssuerTest()
        : GivenIdentityTest({.issuers = {kIssuer, "https://former"}, .audiences = {"a", "b"}}) {}
};

TEST_F(GivenIssuerTest, NamesTokensAndTheirAudience) {
    const std::string made = token();
    EXPECT_EQ(claims(made).at("iss"), kIssuer);
    EXPECT_EQ(claims(made).at("aud"), (json::array{"a", "b"}));
    EXPECT_EQ(who_has(made), kRobot);
    EXPECT_EQ(parsed(get("/.well-known/openid-configuration")).at("jwks_uri"),
              "https://127.0.0.1:1/openid/v1/jwks");
}

TEST_F(GivenIssuerTest, TokensOfAFormerIssuerAreAcceptedAndNoOthers) {
    json::object bent = claims(token());
    bent["iss"] = "https://former";
    EXPECT_EQ(who_has(*apiserver::make_jwt(*key(), bent)), kRobot);
    bent["iss"] = "https://another";
    EXPECT_EQ(who_has(*apiserver::make_jwt(*key(), bent)), "401 Unauthorized");
    bent["iss"] = kIssuer;
    bent["aud"] = json::array{"c"};
    EXPECT_EQ(who_has(*apiserver::make_jwt(*key(), bent)), "401 Unauthorized");
}

class GivenKeysTest : public GivenIdentityTest {
  protected:
    GivenKeysTest() : GivenIdentityTest({.keys = {other()}}) {}
    static const std::shared_ptr<const net::SigningKey>& other() {
        static const std::shared_ptr<const net::SigningKey> made = new_key();
        return made;
    }
};

TEST_F(GivenKeysTest, CheckTokensInThePlaceOfTheOneThatSigns) {
    const std::string made = token();
    EXPECT_EQ(who_has(made), "401 Unauthorized");
    EXPECT_EQ(who_has(*apiserver::make_jwt(*other(), claims(made))), kRobot);
    EXPECT_EQ(parsed(get("/openid/v1/jwks")).at("keys").as_array().size(), 1);
}

class EverythingAllowedTest : public GivenIdentityTest {
  protected:
    EverythingAllowedTest()
        : GivenIdentityTest({}, {.tokens = {{"abc", {"ann", "7", {"dev"}, {}}}},
                                 .anonymous = false,
                                 .everything_allowed = true}) {}
};

TEST_F(EverythingAllowedTest, ToWhoeverIsKnown) {
    EXPECT_EQ(who_has("abc"), "ann");
    EXPECT_EQ(who_has(token()), kRobot);
    const net::HttpHeaders ann{{"Authorization", "Bearer abc"}};
    EXPECT_EQ(verdict(send(request("GET", kPods, "", ann))), "allowed");
    EXPECT_EQ(verdict(send(request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
                                   R"({"metadata":{"name":"r"},"rules":[{"verbs":["*"],)"
                                   R"("apiGroups":["*"],"resources":["*"]}]})",
                                   ann))),
              "allowed");
    const net::HttpResponse review = send(
        request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                R"({"spec":{"resourceAttributes":{"verb":"delete","resource":"nodes"}}})", ann));
    EXPECT_EQ(parsed(review).at("status").at("allowed"), json::value(true)) << review.body;
}

TEST_F(EverythingAllowedTest, AndToNoOneElse) {
    net::HttpRequest nobody;
    nobody.target = "/healthz";
    EXPECT_EQ(send(std::move(nobody)).status, 401);
    EXPECT_EQ(who_has("abcd"), "401 Unauthorized");
}

}  // namespace
}  // namespace muster::apiserver_http::given_identity_test
