#include <gtest/gtest.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver {
namespace {

class EndpointsMemory : public ServerFixture {};

// What is read of a slice must outlive its tree, which is freed when other objects were changed since.
// Only a checker of memory sees the difference for sure.
TEST_F(EndpointsMemory, SlicesAreReadAfterTheirTreesWereFreed) {
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
}  // namespace muster::apiserver
