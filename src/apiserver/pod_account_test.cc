#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver::pod_account_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

constexpr const char* kDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/// What new pods get of their service accounts.
class PodAccountTest : public ServerFixture {
  protected:
    PodAccountTest()
        : ServerFixture({.signing_key = *net::SigningKey::parse(*net::make_signing_key()),
                         .root_ca_pem = "the CA"}) {
        settle();
    }

    static std::string pod(std::string_view spec, std::string_view container = "") {
        return fmt::format(
            R"({{"metadata":{{"name":"p"}},"spec":{{{}"containers":[{{"name":"c","image":"i"{}}}]}}}})",
            spec, container);
    }
    json::object spec_of(std::string_view body, std::string space = "default") {
        const kube::Response made = post("/api/v1/namespaces/" + space + "/pods", body);
        EXPECT_EQ(made.status, 201) << text(made);
        return body_of(made).at("spec").get_object();
    }
    void account(std::string_view more) {
        EXPECT_EQ(post("/api/v1/namespaces/default/serviceaccounts",
                       fmt::format(R"({{"metadata":{{"name":"robot"}}{}}})", more))
                      .status,
                  201);
    }
    static std::string text(const kube::Response& response) {
        return response.body == nullptr ? "" : json::serialize(*response.body);
    }
    static json::value mounts(const json::object& spec, std::size_t container = 0) {
        const json::value* found =
            spec.at("containers").at(container).get_object().if_contains("volumeMounts");
        return found == nullptr ? json::value() : *found;
    }
};

TEST_F(PodAccountTest, AVolumeWithAllThatAClientNeeds) {
    const json::object spec = spec_of(pod(""));
    EXPECT_EQ(spec.at("serviceAccountName"), "default");
    const std::string name(spec.at("volumes").at(0).at("name").get_string());
    EXPECT_THAT(name, MatchesRegex("kube-api-access-[a-z0-9]{5}"));
    EXPECT_EQ(spec.at("volumes").at(0).at("projected"),
              json::parse(R"({"defaultMode":420,"sources":[
        {"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},
        {"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},
        {"downwardAPI":{"items":[{"path":"namespace",
         "fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}]})"));
    const json::value mount =
        json::object{{"name", name}, {"readOnly", true}, {"mountPath", kDirectory}};
    ASSERT_EQ(mounts(spec).get_array().size(), 1u);
    EXPECT_EQ(mounts(spec).at(0), mount);
}

TEST_F(PodAccountTest, ThePodsWordCountsBeforeTheAccounts) {
    account(R"(,"automountServiceAccountToken":false)");
    struct Case {
        const char* spec;
        bool mounted;
    };
    for (const Case& c :
         {Case{R"("serviceAccountName":"robot",)", false},
          Case{R"("serviceAccountName":"robot","automountServiceAccountToken":true,)", true},
          Case{R"("automountServiceAccountToken":false,)", false}, Case{"", true}}) {
        const json::object spec = spec_of(pod(c.spec));
        EXPECT_EQ(!mounts(spec).is_null(), c.mounted) << c.spec;
        EXPECT_EQ(spec.contains("volumes"), c.mounted) << c.spec;
        remove("/api/v1/namespaces/default/pods/p", R"({"gracePeriodSeconds":0})");
    }
}

TEST_F(PodAccountTest, WhatIsMountedThereStays) {
    const json::object spec = spec_of(
        pod(R"("volumes":[{"name":"own","emptyDir":{}}],)",
            fmt::format(R"(,"volumeMounts":[{{"name":"own","mountPath":"{}"}}])", kDirectory)));
    EXPECT_EQ(mounts(spec).get_array().size(), 1u);
    EXPECT_EQ(mounts(spec).at(0).at("name"), "own");
    EXPECT_EQ(spec.at("volumes").get_array().size(), 1u);
}

TEST_F(PodAccountTest, AManifestThatWasTakenFromAPodHasOneVolume) {
    const json::object spec = spec_of(pod(R"("volumes":[{"name":"kube-api-access-abcde",
        "projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}],)"));
    EXPECT_EQ(spec.at("volumes").get_array().size(), 1u);
    EXPECT_EQ(mounts(spec).at(0).at("name"), "kube-api-access-abcde");
}

TEST_F(PodAccountTest, SecretsForImagesComeAlongUnlessThePodBringsSome) {
    account(R"(,"imagePullSecrets":[{"name":"s"}])");
    EXPECT_EQ(spec_of(pod(R"("serviceAccountName":"robot",)")).at("imagePullSecrets"),
              json::parse(R"([{"name":"s"}])"));
    remove("/api/v1/namespaces/default/pods/p", R"({"gracePeriodSeconds":0})");
    EXPECT_EQ(spec_of(pod(R"("serviceAccountName":"robot","imagePullSecrets":[{"name":"t"}],)"))
                  .at("imagePullSecrets"),
              json::parse(R"([{"name":"t"}])"));
}

TEST_F(PodAccountTest, AnAccountThatIsNotThereIsRefused) {
    const kube::Response refused =
        post("/api/v1/namespaces/default/pods", pod(R"("serviceAccountName":"nobody",)"));
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(body_of(refused).at("message"),
              "pods \"p\" is forbidden: error looking up service account default/nobody: "
              "serviceaccount \"nobody\" not found");
}

TEST_F(PodAccountTest, TheFirstPodOfANamespaceDoesNotWaitForItsAccount) {
    EXPECT_EQ(post("/api/v1/namespaces", R"({"metadata":{"name":"new"}})").status, 201);
    EXPECT_FALSE(mounts(spec_of(pod(""), "new")).is_null());
    EXPECT_EQ(get("/api/v1/namespaces/new/serviceaccounts/default").status, 200);
}

TEST_F(PodAccountTest, TheServerIsAService) {
    const std::string path = "/api/v1/namespaces/default/services/kubernetes";
    const kube::Response service = get(path);
    ASSERT_EQ(service.status, 200);
    EXPECT_EQ(body_of(service).at("spec").at("clusterIP"), "10.96.0.1");
    EXPECT_EQ(body_of(service).at("spec").at("ports").at(0).at("port"), 443);
    remove(path);
    settle();
    EXPECT_EQ(get(path).status, 200) << "it comes back";
}

TEST(PodAccountOptionTest, WithoutTokensPodsStayAsTheyAre) {
    struct Plain : ServerFixture {
        void TestBody() override {}
        json::value made() {
            return body_of(post("/api/v1/namespaces/default/pods",
                                R"({"metadata":{"name":"p"},"spec":{"serviceAccountName":"nobody",
                                    "containers":[{"name":"c","image":"i"}]}})"));
        }
    } plain;
    const json::value pod = plain.made();
    EXPECT_EQ(pod.at("spec").at("serviceAccountName"), "nobody");
    EXPECT_FALSE(pod.at("spec").as_object().contains("volumes"));
}

}  // namespace
}  // namespace muster::apiserver::pod_account_test
