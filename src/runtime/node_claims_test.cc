#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/internal/node_fixture.h"

namespace muster::runtime {
namespace {

using ::testing::HasSubstr;

const kube::ResourceType kClaims{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"};

class NodeClaimsTest : public ::testing::Test, protected NodeWorld {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "namespaces are tested as root here";
        set_up(SandboxMode::kNamespaces);
        server = std::make_unique<apiserver::ApiServer>(
            context.get_executor(), node_clock, rng, store::make_memory_store(),
            apiserver::ApiServerOptions{.volumes = {.root = (dir / "volumes").string()}});
        client = std::make_unique<kube::Client>(*server);
        start_node();
    }
    void TearDown() override { tear_down(); }

    void make_claim(const std::string& name, const char* mode) {
        create(json::object{{"metadata", json::object{{"name", name}}},
                            {"spec",
                             json::object{{"accessModes", json::array{mode}},
                                          {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}},
               kClaims);
    }
    static json::object with_claim(const std::string& claim, bool read_only = false) {
        json::object source{{"claimName", claim}};
        if (read_only) source["readOnly"] = true;
        return {{"volumes",
                 json::array{json::object{{"name", "data"}, {"persistentVolumeClaim", source}}}}};
    }
    static json::value mounting(const std::string& script, const std::string& sub_path = "") {
        json::object mount{{"name", "data"}, {"mountPath", "/data"}};
        if (!sub_path.empty()) mount["subPath"] = sub_path;
        return shell(script, {{"volumeMounts", json::array{mount}}});
    }
};

TEST_F(NodeClaimsTest, WhatOnePodWritesAnotherReads) {
    make_claim("data", "ReadWriteMany");
    create(pod_json("writes", mounting("mkdir -p /data/run && echo kept > /data/run/model"),
                    with_claim("data")));
    wait_phase("writes", "Succeeded");
    create(pod_json("reads",
                    mounting("cat /data/model; echo x > /data/model || echo refused", "run"),
                    with_claim("data", true)));
    wait_phase("reads", "Succeeded");
    EXPECT_THAT(logs("reads"), HasSubstr("kept\n"));
    EXPECT_THAT(logs("reads"), HasSubstr("refused\n"));
    std::ifstream kept(dir / "volumes/default/data/run/model");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "kept\n");
}

TEST_F(NodeClaimsTest, AClaimOfOnePodWaitsForTheOther) {
    make_claim("alone", "ReadWriteOncePod");
    create(pod_json("first",
                    mounting("touch /data/here; while test -e /data/here; do sleep 0.01; done"),
                    with_claim("alone")));
    wait_phase("first", "Running");
    create(pod_json("second", mounting("echo mine"), with_claim("alone")));
    auto waits = wait_for("second", [](const kube::Pod* pod) {
        return pod != nullptr && !pod->status.container_statuses.empty() &&
               pod->status.container_statuses[0].state.waiting &&
               pod->status.container_statuses[0].state.waiting->message.contains(
                   "the claim \"alone\" is ReadWriteOncePod, and pod first has it");
    });
    EXPECT_TRUE(waits);
    fs::remove(dir / "volumes/default/alone/here");
    wait_phase("first", "Succeeded");
    leap(std::chrono::minutes(5));
    wait_phase("second", "Succeeded");
}

TEST_F(NodeClaimsTest, APodWaitsForItsClaim) {
    create(pod_json("early", mounting("echo there"), with_claim("later")));
    auto waits = wait_for("early", [](const kube::Pod* pod) {
        return pod != nullptr && !pod->status.container_statuses.empty() &&
               pod->status.container_statuses[0].state.waiting &&
               pod->status.container_statuses[0].state.waiting->message.contains(
                   "persistentvolumeclaim \"later\" not found");
    });
    EXPECT_TRUE(waits);
    make_claim("later", "ReadWriteOnce");
    leap(std::chrono::minutes(5));
    wait_phase("early", "Succeeded");
}

}  // namespace
}  // namespace muster::runtime
