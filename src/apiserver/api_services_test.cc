#include <gmock/gmock.h>

#include "apiserver/fake_extension_caller.h"
#include "apiserver/request_handler.h"
#include "apiserver/server_fixture.h"
#include "base/async/task_fault.h"

// APIServices: their rules, those of what the server serves itself, and whether the servers behind
// them can be reached.

namespace muster::apiserver::api_services_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string kServices = "/apis/apiregistration.k8s.io/v1/apiservices";
constexpr std::string_view kList =
    R"({"kind":"APIResourceList","resources":[{"name":"flunders","kind":"Flunder","verbs":["get"]}]})";

class ApiServicesTest : public ServerFixture {
  protected:
    ApiServicesTest()
        : ServerFixture({.default_roles = true,
                         .root_ca_pem = "CA",
                         .front_proxy_ca_pem = "PROXY",
                         .register_versions = true}) {
        server_->connect_extensions(caller_);
        settle();
    }
    ~ApiServicesTest() override { stop(); }

    static std::string api_service(std::string_view name, std::string_view spec) {
        return fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}}}}})", name, spec);
    }
    static std::string wardle(std::string_view more = "") {
        return api_service("v1.wardle.example.com",
                           fmt::format(R"("group":"wardle.example.com","version":"v1",
        "groupPriorityMinimum":1000,"versionPriority":15,
        "service":{{"namespace":"default","name":"wardle","port":8443}}{})",
                                       more));
    }
    void make_service(
        std::string_view spec = R"({"type":"ExternalName","externalName":"localhost"})") {
        EXPECT_EQ(post("/api/v1/namespaces/default/services",
                       fmt::format(R"({{"metadata":{{"name":"wardle"}},"spec":{}}})", spec))
                      .status,
                  201);
    }
    /// "False ServiceNotFound: message".
    std::string condition(const std::string& name = "v1.wardle.example.com") {
        const kube::Response found = get(kServices + "/" + name);
        const json::value conditions = at(found, "status.conditions");
        if (!conditions.is_array()) return "none";
        const json::object& first = conditions.get_array().at(0).get_object();
        return fmt::format("{} {}: {}", string_at(first, "status"), string_at(first, "reason"),
                           string_at(first, "message"));
    }
    const ExtensionServers::Known* known() {
        return server_->handler().extensions().find("wardle.example.com/v1");
    }
    void serve_wardle() {
        caller_.answer = [](const FakeExtensionCaller::Asked& asked) {
            using Fake = FakeExtensionCaller;
            if (asked.request.target == "/openapi/v3")
                return Result<Fake::Answer>(Fake::text(200, R"({"paths":{}})"));
            return Result<Fake::Answer>(Fake::text(200, std::string(kList)));
        };
    }

    FakeExtensionCaller caller_{context.get_executor()};
};

TEST_F(ApiServicesTest, WhatIsWrongWithOneIsToldInUpstreamsWords) {
    struct Case {
        std::string body;
        const char* message;
    };
    const std::vector<Case> cases = {
        {api_service("x", R"("group":"a.org","version":"v1","groupPriorityMinimum":1,
                            "versionPriority":1)"),
         "metadata.name: Invalid value: \"x\": must be `spec.version+\".\"+spec.group`: "
         "\"v1.a.org\""},
        {api_service("v2.", R"("version":"v2","groupPriorityMinimum":1,"versionPriority":1)"),
         "spec.group: Required value: only v1 may have an empty group and it better be legacy "
         "kube"},
        {api_service("v1.a.org", R"("group":"a.org","version":"v1")"),
         "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000"},
        {api_service("v1.a.org", R"("group":"a.org","version":"v1","groupPriorityMinimum":1,
                                   "versionPriority":1001)"),
         "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"},
        {api_service("v1.a.org", R"("group":"a.org","version":"v1","groupPriorityMinimum":1,
                                   "versionPriority":1,"caBundle":"YWI=")"),
         "spec.caBundle: Invalid value: \"2 bytes\": local APIServices may not have a caBundle"},
        {api_service("v1.a.org", R"("group":"a.org","version":"v1","groupPriorityMinimum":1,
                                   "versionPriority":1,"insecureSkipTLSVerify":true)"),
         "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have "
         "insecureSkipTLSVerify"},
        {api_service("v1.a.org", R"("group":"a.org","version":"v1","groupPriorityMinimum":1,
                                   "versionPriority":1,"service":{})"),
         "spec.service.namespace: Required value, spec.service.name: Required value"},
        {wardle(R"(,"caBundle":"YWI=","insecureSkipTLSVerify":true)"),
         "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is "
         "present"},
        {api_service("V1.a.org", R"("group":"a.org","version":"V1","groupPriorityMinimum":1,
                                   "versionPriority":1)"),
         "spec.version: Invalid value: \"V1\": a DNS-1035 label must consist of"},
    };
    for (const Case& c : cases) {
        const kube::Response answer = post(kServices, c.body);
        EXPECT_EQ(answer.status, 422) << c.body;
        EXPECT_THAT(message(answer), HasSubstr(c.message));
    }
}

TEST_F(ApiServicesTest, ALocalOneIsAvailableAtOnce) {
    const kube::Response made =
        post(kServices, api_service("v1.a.org", R"("group":"a.org","version":"v1",
            "groupPriorityMinimum":1,"versionPriority":1)"));
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(condition("v1.a.org"), "True Local: Local APIServices are always available");
    EXPECT_EQ(server_->handler().extensions().all().size(), 0u);
}

TEST_F(ApiServicesTest, EachVersionThatIsServedHasOne) {
    EXPECT_EQ(condition("v1."), "True Local: Local APIServices are always available");
    const kube::Response apps = get(kServices + "/v1.apps");
    EXPECT_EQ(at(apps, "spec"), json::parse(R"({"group":"apps","version":"v1",
        "groupPriorityMinimum":17800,"versionPriority":15})"));
    EXPECT_EQ(json::serialize(at(apps, "metadata.labels")),
              R"({"kube-aggregator.kubernetes.io/automanaged":"onstart"})");
    EXPECT_EQ(get(kServices + "/v1.apiregistration.k8s.io").status, 404);
}

TEST_F(ApiServicesTest, ThoseOfDefinitionsComeAndGoWithThem) {
    const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const auto definition = [](std::string_view versions) {
        return fmt::format(R"({{"metadata":{{"name":"things.a.org"}},"spec":{{"group":"a.org",
            "scope":"Namespaced","names":{{"plural":"things","kind":"Thing"}},
            "versions":[{}]}}}})",
                           versions);
    };
    const auto version = [](std::string_view name, bool served, bool storage) {
        return fmt::format(R"({{"name":"{}","served":{},"storage":{},
            "schema":{{"openAPIV3Schema":{{"type":"object"}}}}}})",
                           name, served, storage);
    };
    ASSERT_EQ(
        post(crds, definition(version("v1", true, true) + "," + version("v2", true, false))).status,
        201);
    settle();
    EXPECT_EQ(condition("v1.a.org"), "True Local: Local APIServices are always available");
    EXPECT_EQ(get(kServices + "/v2.a.org").status, 200);
    json::value changed = body_of(get(crds + "/things.a.org"));
    changed.at("spec").at("versions").at(1).as_object()["served"] = false;
    ASSERT_EQ(put(crds + "/things.a.org", changed).status, 200);
    settle();
    EXPECT_EQ(get(kServices + "/v2.a.org").status, 404);
    remove(kServices + "/v1.a.org");
    settle();
    EXPECT_EQ(get(kServices + "/v1.a.org").status, 200) << "it comes back";
    remove(crds + "/things.a.org");
    settle();
    EXPECT_EQ(get(kServices + "/v1.a.org").status, 404);
}

TEST_F(ApiServicesTest, OnesOfTheServersOwnAreRemovedAndChangedByUsers) {
    remove(kServices + "/v1.apps");
    settle();
    EXPECT_EQ(get(kServices + "/v1.apps").status, 404) << "until the next start";
    EXPECT_EQ(get("/apis/apps/v1/deployments").status, 200);
}

TEST_F(ApiServicesTest, WhatIsMissingOfTheService) {
    ASSERT_EQ(post(kServices, wardle()).status, 201);
    settle();
    EXPECT_EQ(condition(), "False ServiceNotFound: service/wardle in \"default\" is not present");
    make_service(R"({"ports":[{"name":"web","port":443}]})");
    advance(1s);
    EXPECT_EQ(condition(),
              "False ServicePortError: service/wardle in \"default\" is not listening on port "
              "8443");
    remove("/api/v1/namespaces/default/services/wardle");
    make_service(R"({"ports":[{"name":"web","port":8443}]})");
    advance(1s);
    EXPECT_EQ(condition(),
              "False EndpointsNotFound: cannot find endpoints for service/wardle in \"default\"");
    ASSERT_EQ(post("/api/v1/namespaces/default/endpoints", R"({"metadata":{"name":"wardle"},
        "subsets":[{"addresses":[{"ip":"10.1.2.3"}],"ports":[{"name":"x","port":1}]}]})")
                  .status,
              201);
    advance(1s);
    EXPECT_EQ(condition(),
              "False MissingEndpoints: endpoints for service/wardle in \"default\" have no "
              "addresses with port name \"web\"");
    EXPECT_TRUE(caller_.asked.empty());
    serve_wardle();
    merge_patch("/api/v1/namespaces/default/endpoints/wardle",
                R"({"subsets":[{"addresses":[{"ip":"10.1.2.3"}],
                    "ports":[{"name":"web","port":9443}]}]})");
    advance(1s);
    EXPECT_EQ(condition(), "True Passed: all checks passed");
    ASSERT_FALSE(caller_.asked.empty());
    EXPECT_EQ(caller_.asked.front().endpoint.where.place, (NetworkPort{"10.1.2.3", 9443}));
    EXPECT_EQ(caller_.asked.front().endpoint.where.host, "wardle.default.svc");
}

TEST_F(ApiServicesTest, TheServerIsAskedAsTheAggregatorAsksIt) {
    serve_wardle();
    make_service();
    ASSERT_EQ(post(kServices, wardle(R"(,"caBundle":"YWI=")")).status, 201);
    settle();
    EXPECT_EQ(condition(), "True Passed: all checks passed");
    ASSERT_EQ(caller_.asked.size(), 3u);
    const auto& check = caller_.asked[0];
    EXPECT_TRUE(check.endpoint.insecure);
    EXPECT_EQ(check.endpoint.where.place, (NetworkPort{"localhost", 8443}));
    EXPECT_EQ(check.request.target, "/apis/wardle.example.com/v1");
    EXPECT_EQ(check.request.headers.find("X-Remote-User"), "system:kube-aggregator");
    EXPECT_EQ(check.request.headers.find("X-Remote-Group"), "system:masters");
    EXPECT_FALSE(caller_.asked[1].endpoint.insecure) << "what it says is believed";
    EXPECT_EQ(caller_.asked[1].endpoint.where.ca_pem, "ab");
    EXPECT_EQ(caller_.asked[2].request.target, "/openapi/v3");
    ASSERT_NE(known(), nullptr);
    EXPECT_TRUE(known()->fresh);
    EXPECT_EQ(known()->said->resources.at(0).at("resource"), "flunders");
}

TEST_F(ApiServicesTest, AServerThatFailsIsAskedAgainAfterPausesThatGrow) {
    make_service();
    caller_.answer = [](const FakeExtensionCaller::Asked&) {
        return Result<FakeExtensionCaller::Answer>(
            Error(Code::kUnavailable, "dial tcp 127.0.0.1:8443: connect: connection refused"));
    };
    ASSERT_EQ(post(kServices, wardle()).status, 201);
    settle();
    const std::string url = "https://localhost:8443/apis/wardle.example.com/v1";
    EXPECT_EQ(condition(),
              fmt::format("False FailedDiscoveryCheck: failing or missing response from {0}: Get "
                          "\"{0}\": dial tcp 127.0.0.1:8443: connect: connection refused",
                          url));
    advance(600s);
    const std::size_t asked = caller_.asked.size() / 5;
    EXPECT_GE(asked, 20u);
    EXPECT_LE(asked, 30u) << "every 30 s in the end";
    caller_.answer = [](const FakeExtensionCaller::Asked&) {
        return Result<FakeExtensionCaller::Answer>(FakeExtensionCaller::text(403, "no"));
    };
    advance(31s);
    EXPECT_EQ(condition(),
              fmt::format("False FailedDiscoveryCheck: failing or missing response from {0}: bad "
                          "status from {0}: 403",
                          url));
    serve_wardle();
    advance(31s);
    EXPECT_EQ(condition(), "True Passed: all checks passed");
    EXPECT_EQ(get(kServices + "/v1.wardle.example.com").status, 200);
}

TEST_F(ApiServicesTest, OneThatHangsHoldsUpNoOther) {
    make_service();
    caller_.answer = [](const FakeExtensionCaller::Asked& asked) {
        using Fake = FakeExtensionCaller;
        Fake::Answer answer = Fake::text(200, std::string(kList));
        answer.goes_on = asked.request.target.find("wardle") != std::string::npos;
        return Result<Fake::Answer>(answer);
    };
    ASSERT_EQ(post(kServices, wardle()).status, 201);
    ASSERT_EQ(post(kServices, api_service("v1.b.org", R"("group":"b.org","version":"v1",
        "groupPriorityMinimum":1000,"versionPriority":15,
        "service":{"namespace":"default","name":"wardle","port":8443})"))
                  .status,
              201);
    advance(1s);
    EXPECT_EQ(condition("v1.b.org"), "True Passed: all checks passed");
    EXPECT_TRUE(server_->handler().extensions().find("b.org/v1")->fresh);
}

TEST_F(ApiServicesTest, WhenItIsRemovedItIsServedNoMore) {
    serve_wardle();
    make_service();
    ASSERT_EQ(post(kServices, wardle()).status, 201);
    settle();
    ASSERT_NE(known(), nullptr);
    remove(kServices + "/v1.wardle.example.com");
    settle();
    EXPECT_EQ(known(), nullptr);
    const std::size_t asked = caller_.asked.size();
    advance(120s);
    EXPECT_EQ(caller_.asked.size(), asked);
}

TEST_F(ApiServicesTest, AConditionThatSomeoneElseWritesIsCorrected) {
    serve_wardle();
    make_service();
    ASSERT_EQ(post(kServices, wardle()).status, 201);
    settle();
    merge_patch(kServices + "/v1.wardle.example.com/status",
                R"({"status":{"conditions":[{"type":"Available","status":"False"}]}})");
    advance(1s);
    EXPECT_EQ(condition(), "True Passed: all checks passed");
}

TEST_F(ApiServicesTest, MoreThanAreServedAtATimeSaySo) {
    serve_wardle();
    make_service();
    const auto one = [](std::size_t i) {
        return api_service(fmt::format("v1.g{}.org", i),
                           fmt::format(R"("group":"g{}.org","version":"v1",
            "groupPriorityMinimum":1000,"versionPriority":15,
            "service":{{"namespace":"default","name":"wardle","port":8443}})",
                                       i));
    };
    for (std::size_t i = 0; i <= ExtensionServers::kMost; ++i)
        ASSERT_EQ(post(kServices, one(i)).status, 201);
    settle();
    const std::string last = fmt::format("v1.g{}.org", ExtensionServers::kMost);
    EXPECT_THAT(condition(last), HasSubstr("False TooManyServers: "));
    remove(kServices + "/v1.g0.org");
    advance(1s);
    EXPECT_EQ(condition(last), "True Passed: all checks passed");
}

TEST_F(ApiServicesTest, AFaultOfACheckEndsOnlyThatCheck) {
    serve_wardle();
    make_service();
    {
        const TaskFault fault("availability of an API server");
        ASSERT_EQ(post(kServices, wardle()).status, 201);
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    EXPECT_EQ(condition(), "none");
    advance(2s);
    EXPECT_EQ(condition(), "True Passed: all checks passed");
    caller_.answer = [](const FakeExtensionCaller::Asked&) -> Result<FakeExtensionCaller::Answer> {
        throw std::runtime_error("a fault");
    };
    advance(31s);
    serve_wardle();
    advance(120s);
    EXPECT_EQ(condition(), "True Passed: all checks passed");
}

TEST_F(ApiServicesTest, AFaultOfTheRegistrationIsMadeUpFor) {
    const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    {
        const TaskFault fault("registration of APIServices");
        post(crds, R"({"metadata":{"name":"things.a.org"},"spec":{"group":"a.org",
            "scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[
            {"name":"v1","served":true,"storage":true,
             "schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(2s);
    EXPECT_EQ(get(kServices + "/v1.a.org").status, 200);
}

TEST_F(ApiServicesTest, WhatExtensionServersReadIsRestored) {
    const std::string config =
        "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    const json::value wanted = json::parse(R"({"client-ca-file":"CA",
        "requestheader-client-ca-file":"PROXY",
        "requestheader-allowed-names":"[\"front-proxy-client\"]",
        "requestheader-username-headers":"[\"X-Remote-User\"]",
        "requestheader-uid-headers":"[\"X-Remote-Uid\"]",
        "requestheader-group-headers":"[\"X-Remote-Group\"]",
        "requestheader-extra-headers-prefix":"[\"X-Remote-Extra-\"]"})");
    EXPECT_EQ(at(get(config), "data"), wanted);
    merge_patch(config, R"({"data":{"client-ca-file":"other","more":"kept"}})");
    settle();
    EXPECT_EQ(string_at_path(get(config), "data.client-ca-file"), "CA");
    EXPECT_EQ(string_at_path(get(config), "data.more"), "kept");
    remove(config);
    settle();
    EXPECT_EQ(at(get(config), "data"), wanted);
    const TaskFault fault("configuration of extension servers");
    remove(config);
    settle();
    EXPECT_EQ(get(config).status, 404);
}

TEST_F(ApiServicesTest, TheirConfigurationIsRestoredAfterAFault) {
    const std::string config =
        "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    {
        const TaskFault fault("configuration of extension servers");
        remove(config);
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(2s);
    EXPECT_EQ(get(config).status, 200);
}

}  // namespace
}  // namespace muster::apiserver::api_services_test
