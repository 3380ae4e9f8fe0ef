#include <gmock/gmock.h>

#include "apiserver/authentication/account_token.h"
#include "apiserver/authentication/jwt.h"
#include "apiserver_http/front_fixture.h"
#include "kube/values/base64.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver_http::tokens_test {
namespace {

using testing::HasSubstr;

std::shared_ptr<const net::SigningKey> fresh_key() {
    return *net::SigningKey::parse(*net::make_signing_key());
}

/// Service accounts whose tokens a server gives out, and what others might make of them.
class TokensTest : public FrontFixture {
  protected:
    TokensTest()
        : FrontFixture(
              {.default_roles = true, .signing_key = fresh_key(), .root_ca_pem = "the CA"}) {
        settle();
        apiserver::ServerFixture::post("/api/v1/namespaces/default/serviceaccounts",
                                       R"({"metadata":{"name":"robot"}})");
    }

    net::HttpResponse request_token(std::string_view account, std::string spec = "{}") {
        return post(
            fmt::format("/api/v1/namespaces/default/serviceaccounts/{}/token", account),
            fmt::format(R"({{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest",)"
                        R"("spec":{}}})",
                        spec));
    }
    std::string token(std::string_view account, std::string spec = "{}") {
        const net::HttpResponse answer = request_token(account, std::move(spec));
        EXPECT_EQ(answer.status, 201) << answer.body;
        return std::string(parsed(answer).at("status").at("token").as_string());
    }
    json::object claims(const std::string& token) {
        Result<json::object> read = apiserver::verified_claims(*options_.signing_key, token);
        EXPECT_TRUE(read.has_value());
        return read ? *std::move(read) : json::object();
    }
    net::HttpResponse with(const std::string& token, std::string target) {
        return send(request("GET", std::move(target), "", {{"Authorization", "Bearer " + token}}));
    }
    /// "401 Unauthorized", or as whom the token is taken.
    std::string who(const std::string& token) {
        const net::HttpResponse answer =
            send(request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}",
                         {{"Authorization", "Bearer " + token}}));
        if (answer.status != 201) return reason(answer);
        return std::string(parsed(answer).at("status").at("userInfo").at("username").as_string());
    }
    /// A token of ours with other claims, signed with `key`.
    std::string forged(const json::object& claims, const net::SigningKey& key) {
        return *apiserver::make_jwt(key, claims);
    }

    static constexpr const char* kRobot = "system:serviceaccount:default:robot";
};

TEST_F(TokensTest, AnAccountIsAUserWithItsRoles) {
    const std::string robot = token("robot");
    EXPECT_EQ(who(robot), kRobot);
    EXPECT_THAT(verdict(with(robot, kPods)),
                HasSubstr("User \"system:serviceaccount:default:robot\" cannot list"));
    post("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
         R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"cluster-admin"},
         "subjects":[{"kind":"ServiceAccount","name":"robot"}]})");
    EXPECT_EQ(with(robot, kPods).status, 200);
    EXPECT_EQ(with(robot, "/api/v1/pods").status, 403);
    EXPECT_EQ(with(token("default"), kPods).status, 403);
}

TEST_F(TokensTest, WhatARequestIsAnsweredWith) {
    const net::HttpResponse answer =
        request_token("robot", R"({"audiences":["a","b"],"expirationSeconds":7200})");
    const json::value body = parsed(answer);
    EXPECT_EQ(body.at("kind"), "TokenRequest");
    EXPECT_EQ(body.at("spec").at("expirationSeconds"), 7200);
    EXPECT_EQ(body.at("metadata").at("name"), "robot");
    const json::object said = claims(std::string(body.at("status").at("token").as_string()));
    EXPECT_EQ(said.at("aud"), (json::array{"a", "b"}));
    EXPECT_EQ(said.at("iss"), json::value(apiserver::kTokenIssuer));
    EXPECT_EQ(said.at("sub"), kRobot);
    EXPECT_EQ(said.at("exp").as_int64() - said.at("iat").as_int64(), 7200);
    EXPECT_EQ(said.at("kubernetes.io").at("namespace"), "default");
    EXPECT_EQ(said.at("kubernetes.io").at("serviceaccount").at("name"), "robot");
    EXPECT_FALSE(said.at("jti").as_string().empty());
    EXPECT_EQ(claims(token("robot")).at("aud"), json::array{apiserver::kTokenIssuer});
}

TEST_F(TokensTest, RequestsThatAreRefused) {
    EXPECT_EQ(reason(request_token("nobody")), "404 NotFound");
    EXPECT_THAT(verdict(request_token("robot", R"({"expirationSeconds":599})")),
                HasSubstr("may not specify a duration less than 10 minutes"));
    EXPECT_THAT(verdict(request_token("robot", R"({"expirationSeconds":4294967297})")),
                HasSubstr("may not specify a duration larger than 2^32 seconds"));
    EXPECT_EQ(reason(request_token("robot", R"({"audiences":"a"})")), "400 BadRequest");
    EXPECT_THAT(verdict(request_token("robot",
                                      R"({"boundObjectRef":{"apiVersion":"v1","kind":"Pod",
                                      "name":"none"}})")),
                HasSubstr("pods \"none\" not found"));
    EXPECT_EQ(reason(request_token("robot", R"({"boundObjectRef":{"apiVersion":"v1",
                                   "kind":"ConfigMap","name":"kube-root-ca.crt"}})")),
              "400 BadRequest");
    apiserver::ServerFixture::post(kPods, pod("p"));
    EXPECT_THAT(verdict(request_token("robot", R"({"boundObjectRef":{"apiVersion":"v1",
                                      "kind":"Pod","name":"p"}})")),
                HasSubstr("different serviceaccount name"));
    EXPECT_EQ(reason(request_token("default", R"({"boundObjectRef":{"apiVersion":"v1",
                                   "kind":"Pod","name":"p","uid":"other"}})")),
              "409 Conflict");
    EXPECT_EQ(reason(get("/api/v1/namespaces/default/serviceaccounts/robot/token")),
              "405 MethodNotAllowed");
    EXPECT_EQ(
        reason(as("bob", "POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", "{}")),
        "403 Forbidden");
}

TEST_F(TokensTest, ATokenEndsAtItsTime) {
    const std::string robot = token("robot", R"({"expirationSeconds":600})");
    advance(std::chrono::seconds(599));
    EXPECT_EQ(who(robot), kRobot);
    advance(std::chrono::seconds(1));
    EXPECT_EQ(who(robot), "401 Unauthorized");
}

TEST_F(TokensTest, ATokenEndsWithItsAccount) {
    const std::string robot = token("robot");
    const std::string path = "/api/v1/namespaces/default/serviceaccounts";
    send(request("DELETE", path + "/robot"));
    EXPECT_EQ(who(robot), "401 Unauthorized");
    post(path, R"({"metadata":{"name":"robot"}})");
    EXPECT_EQ(who(robot), "401 Unauthorized") << "another account of that name";
    EXPECT_EQ(who(token("robot")), kRobot);
}

TEST_F(TokensTest, ATokenEndsWithItsPod) {
    apiserver::ServerFixture::post(kPods, pod("p"));
    const std::string of_pod =
        token("default", R"({"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"p"}})");
    EXPECT_EQ(who(of_pod), "system:serviceaccount:default:default");
    const json::value review = parsed(post("/apis/authentication.k8s.io/v1/tokenreviews",
                                           fmt::format(R"({{"spec":{{"token":"{}"}}}})", of_pod)));
    EXPECT_EQ(review.at("status").at("authenticated"), true);
    EXPECT_EQ(
        review.at("status").at("user").at("extra").at("authentication.kubernetes.io/pod-name"),
        json::array{"p"});
    send(request("DELETE", kPods + "/p"));
    EXPECT_EQ(who(of_pod), "401 Unauthorized");
    apiserver::ServerFixture::post(kPods, pod("p"));
    EXPECT_EQ(who(of_pod), "401 Unauthorized") << "another pod of that name";
    EXPECT_EQ(who(token("default")), "system:serviceaccount:default:default");
}

TEST_F(TokensTest, ATokenForOthersIsNoneForTheServer) {
    const std::string other = token("robot", R"({"audiences":["vault"]})");
    EXPECT_EQ(who(other), "401 Unauthorized");
    const auto review = [&](std::string_view audiences) {
        return parsed(post("/apis/authentication.k8s.io/v1/tokenreviews",
                           fmt::format(R"({{"spec":{{"token":"{}","audiences":{}}}}})", other,
                                       audiences)))
            .at("status");
    };
    EXPECT_EQ(review(R"(["vault","x"])").at("audiences"), json::array{"vault"});
    EXPECT_FALSE(review(R"(["x"])").as_object().contains("authenticated"));
    EXPECT_FALSE(review("[]").as_object().contains("authenticated"));
}

TEST_F(TokensTest, ForgedTokensAreRefused) {
    const std::string robot = token("robot");
    const json::object honest = claims(robot);
    const std::size_t first = robot.find('.');
    const std::size_t second = robot.find('.', first + 1);
    const std::string header = robot.substr(0, first);
    const std::string body = robot.substr(first + 1, second - first - 1);
    const std::string signature = robot.substr(second + 1);
    const auto encoded = [](std::string_view text) { return kube::base64url_encode(text); };
    const std::string id = kube::base64url_encode(options_.signing_key->fingerprint());
    const auto other_key = fresh_key();

    // Nothing else than the tokens that come next is wrong with them.
    EXPECT_EQ(who(robot), kRobot);
    EXPECT_EQ(who(forged(honest, *options_.signing_key)), kRobot);

    const std::string wrong[] = {
        // No signature, or none that means anything.
        encoded(R"({"alg":"none"})") + "." + body + ".",
        encoded(fmt::format(R"({{"alg":"none","kid":"{}"}})", id)) + "." + body + ".",
        encoded(fmt::format(R"({{"alg":"none","kid":"{}"}})", id)) + "." + body + "." + signature,
        encoded(fmt::format(R"({{"alg":"HS256","kid":"{}"}})", id)) + "." + body + "." + signature,
        encoded(fmt::format(R"({{"alg":"RS256","kid":"{}"}})", id)) + "." + body + "." + signature,
        encoded(fmt::format(R"({{"alg":"es256","kid":"{}"}})", id)) + "." + body + "." + signature,
        header + "." + body,
        header + "." + body + ".",
        header + "." + body + "." + "AAAA",
        header + "." + body + "." + encoded(std::string(64, '\0')),
        // Parts of others.
        forged(honest, *other_key),
        header + "." + body + "." + forged(honest, *other_key).substr(second + 1),
        header + "." + encoded(R"({"sub":"system:admin"})") + "." + signature,
        robot + ".",
        robot + "." + signature,
        "." + robot,
        robot + "=",
        robot + "A",
        "..",
        "...",
        "secret.secret.secret",
        std::string(20'000, 'a'),
    };
    for (const std::string& token : wrong) EXPECT_EQ(who(token), "401 Unauthorized") << token;
}

TEST_F(TokensTest, ClaimsThatDoNotHoldAreRefusedWhoeverSignedThem) {
    const json::object honest = claims(token("robot"));
    const auto who_with = [&](std::string_view key, json::value value) {
        json::object bent = honest;
        if (value.is_null())
            bent.erase(key);
        else
            bent[key] = std::move(value);
        return who(forged(bent, *options_.signing_key));
    };
    const std::int64_t expires = honest.at("exp").as_int64();
    EXPECT_EQ(who_with("exp", expires + 1), kRobot);
    EXPECT_EQ(who_with("exp", nullptr), "401 Unauthorized");
    EXPECT_EQ(who_with("exp", json::value(std::to_string(expires))), "401 Unauthorized");
    EXPECT_EQ(who_with("exp", static_cast<double>(expires)), "401 Unauthorized");
    EXPECT_EQ(who_with("exp", honest.at("iat")), "401 Unauthorized");
    EXPECT_EQ(who_with("nbf", expires), "401 Unauthorized");
    EXPECT_EQ(who_with("iss", "https://else.where"), "401 Unauthorized");
    EXPECT_EQ(who_with("iss", nullptr), "401 Unauthorized");
    EXPECT_EQ(who_with("aud", nullptr), "401 Unauthorized");
    EXPECT_EQ(who_with("aud", json::array{"x"}), "401 Unauthorized");
    EXPECT_EQ(who_with("sub", "system:serviceaccount:kube-system:default"), "401 Unauthorized");
    EXPECT_EQ(who_with("sub", "muster-admin"), "401 Unauthorized");
    EXPECT_EQ(who_with("kubernetes.io", nullptr), "401 Unauthorized");
    json::object own = honest.at("kubernetes.io").as_object();
    own["pod"] = json::object{{"name", "none"}, {"uid", "none"}};
    EXPECT_EQ(who_with("kubernetes.io", own), "401 Unauthorized");
    own["pod"] = "p";
    EXPECT_EQ(who_with("kubernetes.io", own), "401 Unauthorized");
    own.erase("pod");
    own["serviceaccount"].as_object()["uid"] = "other";
    EXPECT_EQ(who_with("kubernetes.io", own), "401 Unauthorized");
    own["serviceaccount"].as_object().erase("uid");
    EXPECT_EQ(who_with("kubernetes.io", own), "401 Unauthorized");
}

TEST_F(TokensTest, OthersCanCheckTokensWithWhatIsPublished) {
    const json::value configuration = parsed(get("/.well-known/openid-configuration"));
    EXPECT_EQ(configuration.at("issuer"), json::value(apiserver::kTokenIssuer));
    EXPECT_EQ(configuration.at("id_token_signing_alg_values_supported"), json::array{"ES256"});
    const net::HttpResponse keys = get("/openid/v1/jwks");
    EXPECT_EQ(keys.headers.find("Content-Type"), "application/jwk-set+json");
    const json::value set = parsed(keys);
    const json::object& key = set.at("keys").at(0).as_object();
    EXPECT_EQ(key.at("kid"),
              json::value(kube::base64url_encode(options_.signing_key->fingerprint())));
    EXPECT_EQ(key.at("kty"), "EC");
    EXPECT_EQ(key.at("x").as_string().size(), 43);
    EXPECT_FALSE(key.contains("d")) << "the private half";
    EXPECT_EQ(with(token("robot"), "/openid/v1/jwks").status, 200);
    EXPECT_EQ(as("bob", "GET", "/openid/v1/jwks").status, 403);
    EXPECT_EQ(reason(send(request("PUT", "/openid/v1/jwks"))), "405 MethodNotAllowed");
}

TEST_F(TokensTest, EveryNamespaceHasItsAccountAndTheTrust) {
    apiserver::ServerFixture::post("/api/v1/namespaces", R"({"metadata":{"name":"a"}})");
    settle();
    const std::string account = "/api/v1/namespaces/a/serviceaccounts/default";
    const std::string trust = "/api/v1/namespaces/a/configmaps/kube-root-ca.crt";
    EXPECT_EQ(get(account).status, 200);
    EXPECT_EQ(parsed(get(trust)).at("data").at("ca.crt"), "the CA");
    EXPECT_EQ(get("/api/v1/namespaces/kube-system/serviceaccounts/default").status, 200);
    send(request("DELETE", account));
    send(request("PATCH", trust, R"({"data":{"ca.crt":"another","more":"x"}})",
                 {{"Content-Type", "application/merge-patch+json"}}));
    settle();
    EXPECT_EQ(get(account).status, 200);
    EXPECT_EQ(parsed(get(trust)).at("data"), json::value({{"ca.crt", "the CA"}}));
    send(request("DELETE", "/api/v1/namespaces/a"));
    settle();
    EXPECT_EQ(get("/api/v1/namespaces/a").status, 404) << "nothing comes back while it goes";
}

class NoTokensTest : public FrontFixture {};

TEST_F(NoTokensTest, AServerWithoutAKeyHasNone) {
    settle();
    EXPECT_EQ(get("/api/v1/namespaces/default/serviceaccounts/default").status, 404);
    apiserver::ServerFixture::post("/api/v1/namespaces/default/serviceaccounts",
                                   R"({"metadata":{"name":"robot"}})");
    EXPECT_EQ(post("/api/v1/namespaces/default/serviceaccounts/robot/token", "{}").status, 404);
    EXPECT_EQ(get("/openid/v1/jwks").status, 404);
    const auto key = fresh_key();
    EXPECT_EQ(reason(send(request(
                  "GET", kPods, "",
                  {{"Authorization", "Bearer " + *apiserver::make_jwt(*key, {{"sub", "x"}})}}))),
              "401 Unauthorized");
}

}  // namespace
}  // namespace muster::apiserver_http::tokens_test
