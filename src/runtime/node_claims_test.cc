#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/internal/files/claims.h"
#include "runtime/internal/node_fixture.h"

namespace muster::runtime::node_claims_test {
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
    create(pod_json(
        "first",
        mounting("touch /data/here; echo up; while test -e /data/here; do sleep 0.01; done"),
        with_claim("alone")));
    wait_for_output("first", "up\n");
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

TEST_F(NodeClaimsTest, PrivateFilesDoNotHideThem) {
    await(node->stop());
    node.reset();
    await(server->stop());
    options.files = FileMode::kPrivate;
    server = std::make_unique<apiserver::ApiServer>(
        context.get_executor(), node_clock, rng, store::make_memory_store(),
        apiserver::ApiServerOptions{.volumes = {.root = (dir / "volumes").string()}});
    client = std::make_unique<kube::Client>(*server);
    start_node();
    make_claim("data", "ReadWriteOnce");
    create(pod_json("writes", mounting("echo kept > /data/model; echo own > model"),
                    with_claim("data")));
    wait_phase("writes", "Succeeded");
    EXPECT_TRUE(fs::exists(dir / "volumes/default/data/model"));
    EXPECT_FALSE(fs::exists(dir / "work/model"));
}

TEST(ClaimsInUse, NoneIsTakenBeforeThePodsThatRunHaveTakenTheirs) {
    const std::vector<kube::NamespacedName> claims{{"default", "c"}};
    kube::Pod ran;
    ran.metadata.name = "ran";
    ran.metadata.uid = "1";
    kube::Pod fresh;
    fresh.metadata.uid = "2";
    ClaimsInUse used;
    used.expect("1");
    EXPECT_TRUE(used.take({}, fresh));
    EXPECT_EQ(used.take(claims, fresh).error().code(), Code::kUnavailable);
    EXPECT_TRUE(used.take(claims, ran));
    EXPECT_EQ(used.take(claims, fresh).error().code(), Code::kAlreadyExists);
    used.release("1");
    EXPECT_TRUE(used.take(claims, fresh));
    used.expect("3");
    used.release("3");  // it was ended
    EXPECT_TRUE(used.take(claims, fresh));
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
}  // namespace muster::runtime::node_claims_test
