#include <gmock/gmock.h>

#include <set>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::endpoints_controller_test {
namespace {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kServices = "/api/v1/namespaces/default/services";
constexpr const char* kSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
constexpr const char* kService = R"({"metadata":{"name":"%"},
    "spec":{"selector":{"app":"a"},"ports":[{"name":"web","port":80,"targetPort":8080}]}})";

class EndpointsControllerTest : public ServerFixture {
  protected:
    void create_pod(int number, std::string_view app = "a") {
        const std::string name = fmt::format("p{}", number);
        ASSERT_EQ(post(kPods, pod(name, fmt::format(R"(,"labels":{{"app":"{}"}})", app),
                                  R"(,"nodeName":"n")"))
                      .status,
                  201);
        set_ready(number, true);
    }
    void set_ready(int number, bool ready) {
        const kube::Response changed =
            merge_patch(fmt::format("{}/p{}/status", kPods, number),
                        fmt::format(R"({{"status":{{"phase":"Running","podIP":"10.0.{}.{}",
                "conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                                    number / 250, number % 250, ready ? "True" : "False"));
        ASSERT_EQ(changed.status, 200) << text(changed);
        settle();
    }
    void create_service(const std::string& name) {
        std::string body = kService;
        body.replace(body.find('%'), 1, name);
        ASSERT_EQ(post(kServices, body).status, 201);
        settle();
    }
    /// The addresses of a service's slices that are ready.
    std::set<std::string> ready(std::string_view service) {
        std::set<std::string> addresses;
        const kube::Response listed = get(kSlices);
        for (const json::value& slice : listed.body->at("items").as_array()) {
            if (slice.at("metadata").at("labels").at("kubernetes.io/service-name").as_string() !=
                service)
                continue;
            EXPECT_EQ(slice.at("ports").at(0).at("port"), 8080);
            for (const json::value& endpoint : slice.at("endpoints").as_array())
                if (endpoint.at("conditions").at("ready").as_bool())
                    addresses.insert(std::string(endpoint.at("addresses").at(0).as_string()));
        }
        return addresses;
    }
};

TEST_F(EndpointsControllerTest, FindsThePodsThatWereThereAndFollowsThem) {
    for (int i = 0; i < 150; ++i) create_pod(i);
    create_pod(150, "b");
    create_service("first");
    EXPECT_EQ(ready("first").size(), 150u) << "in two slices";
    set_ready(7, false);
    remove(fmt::format("{}/p8", kPods), R"({"gracePeriodSeconds":0})");
    settle();
    create_service("second");
    for (const char* service : {"first", "second"}) {
        EXPECT_EQ(ready(service).size(), 148u) << service;
        EXPECT_FALSE(ready(service).contains("10.0.0.7")) << service;
        EXPECT_FALSE(ready(service).contains("10.0.0.8")) << service;
    }
    create_pod(151);
    EXPECT_TRUE(ready("first").contains("10.0.0.151"));
    EXPECT_TRUE(ready("second").contains("10.0.0.151"));
}

TEST_F(EndpointsControllerTest, ANewSelectorHasOtherPods) {
    create_pod(1);
    create_pod(2, "b");
    create_service("s");
    EXPECT_THAT(ready("s"), ::testing::ElementsAre("10.0.0.1"));
    ASSERT_EQ(
        merge_patch(std::string(kServices) + "/s", R"({"spec":{"selector":{"app":"b"}}})").status,
        200);
    settle();
    EXPECT_THAT(ready("s"), ::testing::ElementsAre("10.0.0.2"));
}

// What is read of a slice must outlive its tree, which is freed when other objects were changed since.
// Only a checker of memory sees the difference for sure.
TEST_F(EndpointsControllerTest, SlicesAreReadAfterTheirTreesWereFreed) {
    const std::string base = "/api/v1/namespaces/default/";
    ASSERT_EQ(post(base + "services", R"({"metadata":{"name":"s"},"spec":{"selector":{"a":"b"},
                  "ports":[{"name":"web","port":80}]}})")
                  .status,
              201);
    ASSERT_EQ(post(base + "pods", pod("p", R"(,"labels":{"a":"b"})")).status, 201);
    const auto set_ready = [&](std::string_view ready) {
        const kube::Response set = merge_patch(
            base + "pods/p/status",
            fmt::format(R"({{"status":{{"podIP":"10.0.0.1","podIPs":[{{"ip":"10.0.0.1"}}],
                "conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                        ready));
        ASSERT_EQ(set.status, 200) << text(set);
        settle();
    };
    for (int i = 0; i < 4; ++i) {
        set_ready(i % 2 == 0 ? "True" : "False");
        for (int j = 0; j < 40; ++j)
            ASSERT_EQ(post(base + "configmaps", config_map(fmt::format("m{}-{}", i, j))).status,
                      201);
        settle();
    }
    set_ready("True");
    const kube::Response slices =
        get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices");
    ASSERT_EQ(at(slices, "items").as_array().size(), 1u) << text(slices);
    const json::value slice = at(slices, "items").at(0);
    EXPECT_EQ(slice.at("endpoints").at(0).at("conditions").at("ready"), true);
    EXPECT_EQ(slice.at("ports").at(0).at("name"), "web");
}

}  // namespace
}  // namespace muster::apiserver::endpoints_controller_test
