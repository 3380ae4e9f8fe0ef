#include "kube/client_config/in_cluster_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace muster::kube::in_cluster_config_test {
namespace {

using testing::HasSubstr;

class InClusterConfig : public testing::Test {
  protected:
    InClusterConfig() {
        std::string pattern = testing::TempDir() + "muster-account-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder");
        directory = pattern;
        write("token", "secret\n");
        write("namespace", "team\n");
        write("ca.crt", "");
    }
    ~InClusterConfig() override { std::filesystem::remove_all(directory); }

    void write(const std::string& name, std::string_view text) {
        std::ofstream(directory + "/" + name) << text;
    }
    static std::vector<std::string> pod(const std::string& host, const std::string& port) {
        return {"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port};
    }

    std::string directory;
};

TEST_F(InClusterConfig, IsWhatEveryPodHas) {
    const auto found = in_cluster_config(pod("10.96.0.1", "443"), directory);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_TRUE(*found);
    const ClientConfig& access = **found;
    EXPECT_EQ(access.url.text(), "https://10.96.0.1:443");
    EXPECT_EQ(access.namespace_, "team");
    EXPECT_EQ(access.ca.file, directory + "/ca.crt");
    EXPECT_EQ(access.token_file, directory + "/token");
    EXPECT_TRUE(access.token.empty()) << "it changes while the pod lives";
    EXPECT_FALSE(access.insecure);
}

TEST_F(InClusterConfig, TakesAnAddressOfIPv6) {
    const auto found = in_cluster_config(pod("fd00::1", "6443"), directory);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->url.text(), "https://[fd00::1]:6443");
}

TEST_F(InClusterConfig, IsNothingOutsideOfAPod) {
    for (const auto& environment : {pod("", "443"), pod("10.96.0.1", ""), {}}) {
        const auto found = in_cluster_config(environment, directory);
        ASSERT_TRUE(found);
        EXPECT_FALSE(*found);
    }
    // A pod that wants no token of its own.
    std::filesystem::remove(directory + "/token");
    const auto found = in_cluster_config(pod("10.96.0.1", "443"), directory);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
}

TEST_F(InClusterConfig, WithoutANamespaceItIsDefault) {
    write("namespace", "\n");
    const auto found = in_cluster_config(pod("10.96.0.1", "443"), directory);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->namespace_, "default");
}

TEST_F(InClusterConfig, SaysWhichVariableIsWrong) {
    const auto found = in_cluster_config(pod("10.96.0.1", "many"), directory);
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), HasSubstr("KUBERNETES_SERVICE_PORT of this pod: "));
}

}  // namespace
}  // namespace muster::kube::in_cluster_config_test
