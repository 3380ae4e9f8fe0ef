#include "cli/internal/connect/kubeconfig_host.h"

#include <gtest/gtest.h>

namespace muster::cli::kubeconfig_host_test {
namespace {

std::string changed(const std::string& server, const std::string& host) {
    const auto made =
        with_host("clusters:\n- cluster:\n    server: " + server + "\n  name: m\n", host);
    return made ? *made : "!" + made.error().message();
}
std::string config(const std::string& server) {
    return "clusters:\n- cluster:\n    server: " + server + "\n  name: m\n";
}

TEST(KubeconfigHost, IsReplacedAndThePortStays) {
    EXPECT_EQ(changed("https://127.0.0.1:6443", "192.0.2.7"), config("https://192.0.2.7:6443"));
    EXPECT_EQ(changed("\"https://127.0.0.1:6443\"", "node0"), config("\"https://node0:6443\""));
    EXPECT_EQ(changed("https://[::1]:7443", "2001:db8::1"), config("https://[2001:db8::1]:7443"));
    EXPECT_EQ(changed("https://[::1]:7443", "node0"), config("https://node0:7443"));
}

TEST(KubeconfigHost, IsANameOrAnAddress) {
    for (const char* host : {"", "https://node0", "a b", "node0\nserver: x", "[::1]"})
        EXPECT_TRUE(changed("https://127.0.0.1:6443", host).starts_with("!--host wants")) << host;
    EXPECT_EQ(with_host("clusters: []\n", "node0").error().message(),
              "the kubeconfig names no server");
    EXPECT_EQ(changed("https://[::1", "node0"), "!the kubeconfig's server has no port");
}

}  // namespace
}  // namespace muster::cli::kubeconfig_host_test
