#include "runtime/internal/pod/container_env.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::runtime::container_env_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class MakeProcess : public ::testing::Test {
  protected:
    MakeProcess() {
        pod.metadata.name = "digits-worker-0";
        pod.metadata.namespace_ = "ns";
        pod.metadata.uid = "u1";
        pod.metadata.labels["role"] = "worker";
        container.name = "pytorch";
        container.command = {"python", "$(SCRIPT)"};
        container.args = {"--addr=$(MASTER_ADDR)", "$(HOME)"};
    }
    EnvironmentInput input() {
        return {.pod = pod,
                .config_maps = config_maps,
                .secrets = secrets,
                .base = {"PATH=/bin", "HOME=/root", "A=base"},
                .hostname = "digits-worker-0",
                .pod_ip = "10.244.0.3",
                .host_ip = "127.0.0.1",
                .node_name = "localhost",
                .node_cpu = kube::Quantity::from_units(4),
                .node_memory = kube::Quantity::from_units(1 << 30),
                .addresses = addresses};
    }
    void set(std::string name, std::string value) {
        kube::EnvVar variable;
        variable.name = std::move(name);
        variable.value = std::move(value);
        container.env.push_back(std::move(variable));
    }
    void set_field(std::string name, std::string path) {
        kube::EnvVar variable;
        variable.name = std::move(name);
        variable.value_from.emplace();
        variable.value_from->field_ref.emplace();
        variable.value_from->field_ref->field_path = std::move(path);
        container.env.push_back(std::move(variable));
    }
    std::string value_of(const std::string& name) {
        auto made = make_process(container, input());
        if (!made) return "error: " + made.error().message();
        for (const std::string& entry : made->environment)
            if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
        return "unset";
    }

    kube::Pod pod;
    kube::Container container;
    KeyValueObjects config_maps;
    KeyValueObjects secrets;
    std::map<std::string, std::string, std::less<>> addresses;
};

TEST_F(MakeProcess, EnvBeatsEnvFromBeatsBase) {
    config_maps["cm"] = {{"A", "cm"}, {"B", "cm"}};
    container.env_from.resize(1);
    container.env_from[0].config_map_ref.emplace();
    container.env_from[0].config_map_ref->name = "cm";
    EXPECT_EQ(value_of("A"), "cm");
    set("B", "own");
    EXPECT_EQ(value_of("B"), "own");
    container.env_from[0].prefix = "P_";
    EXPECT_EQ(value_of("A"), "base");
    EXPECT_EQ(value_of("P_A"), "cm");
}

TEST_F(MakeProcess, ReferencesSeeOnlyWhatTheManifestDefinedBefore) {
    set("LATE", "$(EARLY)");
    set("EARLY", "x");
    set("AFTER", "$(EARLY)$(HOME)");
    EXPECT_EQ(value_of("LATE"), "$(EARLY)");
    EXPECT_EQ(value_of("AFTER"), "x$(HOME)");
}

TEST_F(MakeProcess, CommandAndArgumentsAreExpanded) {
    set("SCRIPT", "train.py");
    set("MASTER_ADDR", "digits-master-0");
    auto made = make_process(container, input());
    ASSERT_TRUE(made);
    EXPECT_EQ(made->argv, (std::vector<std::string>{"python", "train.py", "--addr=digits-master-0",
                                                    "$(HOME)"}));
}

TEST_F(MakeProcess, VariablesThatDoubleEachOtherEndAtALimit) {
    set("V0", "xxxxxxxxxx");
    for (int i = 1; i < 60; ++i) set(fmt::format("V{}", i), fmt::format("$(V{0})$(V{0})", i - 1));
    EXPECT_THAT(value_of("V0"), HasSubstr("take more than 8 MiB once variables are replaced"));
}

TEST_F(MakeProcess, WordsAndObjectsCountToo) {
    set("LONG", std::string(1'000'000, 'x'));
    container.args.assign(9, "$(LONG)");
    EXPECT_THAT(value_of("LONG"), HasSubstr("take more than 8 MiB"));
    container.args.clear();
    EXPECT_EQ(value_of("LONG").size(), 1'000'000);
    config_maps["cm"] = {{"A", std::string(1'000'000, 'y')}};
    for (int i = 0; i < 8; ++i) {
        kube::EnvFromSource& from = container.env_from.emplace_back();
        from.prefix = fmt::format("P{}_", i);
        from.config_map_ref.emplace();
        from.config_map_ref->name = "cm";
    }
    EXPECT_THAT(value_of("LONG"), HasSubstr("take more than 8 MiB"));
}

TEST_F(MakeProcess, Fields) {
    const std::pair<const char*, const char*> cases[] = {
        {"metadata.name", "digits-worker-0"},
        {"metadata.namespace", "ns"},
        {"metadata.uid", "u1"},
        {"metadata.labels['role']", "worker"},
        {"metadata.labels['none']", ""},
        {"status.podIP", "10.244.0.3"},
        {"status.hostIP", "127.0.0.1"},
        {"spec.nodeName", "localhost"},
        {"spec.restartPolicy", "error: unsupported fieldPath: spec.restartPolicy"}};
    for (const auto& [path, expected] : cases) {
        container.env.clear();
        set_field("F", path);
        EXPECT_EQ(value_of("F"), expected) << path;
    }
}

TEST_F(MakeProcess, ResourcesAreDividedRoundingUp) {
    container.resources.limits["cpu"] = "1500m";
    container.resources.limits["memory"] = "100Mi";
    container.resources.requests["cpu"] = 2;
    struct Case {
        const char* resource;
        json::value divisor;
        const char* expected;
    };
    const Case cases[] = {{"limits.cpu", nullptr, "2"},
                          {"limits.cpu", "1m", "1500"},
                          {"limits.cpu", "0", "2"},
                          {"requests.cpu", nullptr, "2"},
                          {"limits.memory", "1Mi", "100"},
                          {"limits.memory", "1Gi", "1"},
                          {"limits.memory", nullptr, "104857600"},
                          {"requests.memory", nullptr, "0"}};
    for (const Case& c : cases) {
        container.env.clear();
        kube::EnvVar variable;
        variable.name = "R";
        variable.value_from.emplace();
        variable.value_from->resource_field_ref.emplace();
        variable.value_from->resource_field_ref->resource = c.resource;
        variable.value_from->resource_field_ref->divisor = c.divisor;
        container.env.push_back(variable);
        EXPECT_EQ(value_of("R"), c.expected) << c.resource << " by " << json::serialize(c.divisor);
    }
    container.resources.limits.clear();
    EXPECT_EQ(value_of("R"), "0");
    container.env[0].value_from->resource_field_ref->resource = "limits.cpu";
    EXPECT_EQ(value_of("R"), "4") << "a missing limit is the node's";
}

TEST_F(MakeProcess, WhatIsMissingIsNamedAsAKubeletNamesIt) {
    kube::EnvVar variable;
    variable.name = "S";
    variable.value_from.emplace();
    auto& selector = variable.value_from->secret_key_ref.emplace();
    selector.name = "sec";
    selector.key = "k";
    container.env.push_back(variable);
    EXPECT_EQ(value_of("S"), "error: secret \"sec\" not found");
    secrets["sec"] = {};
    EXPECT_EQ(value_of("S"), "error: couldn't find key k in Secret ns/sec");
    container.env[0].value_from->secret_key_ref->optional = true;
    EXPECT_EQ(value_of("S"), "unset");
}

TEST_F(MakeProcess, WithoutNamesPlainValuesGetAddresses) {
    addresses = {{"digits-master-0", "127.77.0.1"},
                 {"digits-worker-0", "127.77.0.2"},
                 {"digits-master-0.ns.svc", "127.77.0.1"}};
    set("MASTER_ADDR", "digits-master-0");
    set("HOSTS",
        "digits-master-0:23456,digits-worker-0:1,digits-master-0.ns.svc,x-digits-master-0");
    set("TF_CONFIG", R"({"worker":["digits-worker-0:2222"]})");
    set("HOSTNAME", "digits-worker-0");
    set_field("POD_NAME", "metadata.name");
    EXPECT_EQ(value_of("MASTER_ADDR"), "127.77.0.1");
    EXPECT_EQ(value_of("HOSTS"), "127.77.0.1:23456,127.77.0.2:1,127.77.0.1,x-digits-master-0");
    EXPECT_EQ(value_of("TF_CONFIG"), R"({"worker":["127.77.0.2:2222"]})");
    EXPECT_EQ(value_of("HOSTNAME"), "digits-worker-0");
    EXPECT_EQ(value_of("POD_NAME"), "digits-worker-0");
}

TEST(ServerVariablesTest, AsOfTheServiceKubernetes) {
    std::vector<std::string> base{"A=b"};
    add_server_variables(base, {.host = "10.96.0.1", .port = 443});
    EXPECT_THAT(
        base,
        testing::ElementsAre(
            "A=b", "KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443",
            "KUBERNETES_SERVICE_PORT_HTTPS=443", "KUBERNETES_PORT=tcp://10.96.0.1:443",
            "KUBERNETES_PORT_443_TCP=tcp://10.96.0.1:443", "KUBERNETES_PORT_443_TCP_PROTO=tcp",
            "KUBERNETES_PORT_443_TCP_PORT=443", "KUBERNETES_PORT_443_TCP_ADDR=10.96.0.1"));
}

}  // namespace
}  // namespace muster::runtime::container_env_test
