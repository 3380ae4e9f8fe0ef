#include "runtime/internal/network/pod_dns.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "kube/objects/codec.h"

namespace muster::runtime::pod_dns_test {
namespace {

constexpr std::string_view kNode =
    "nameserver 169.254.1.53\nnameserver 192.0.2.1\nsortlist 192.0.2.0\ndomain old\nsearch lan "
    "corp\n"
    "options ndots:2 rotate\n";

PodDns dns_of(const char* spec) {
    const auto decoded = kube::decode<kube::PodSpec>(json::parse(spec));
    EXPECT_TRUE(decoded) << spec;
    const auto dns = pod_dns(*decoded);
    EXPECT_TRUE(dns) << spec;
    return dns.value_or(PodDns{});
}

TEST(PodDns, MostPodsAskForNothing) {
    for (const char* spec :
         {"{}", R"({"dnsPolicy":"ClusterFirst"})", R"({"dnsPolicy":"Default","dnsConfig":{}})",
          R"({"dnsPolicy":"ClusterFirstWithHostNet","dnsConfig":{"searches":[]}})"})
        EXPECT_FALSE(pod_dns(*kube::decode<kube::PodSpec>(json::parse(spec)))) << spec;
}

TEST(PodDns, IsAddedToTheNodes) {
    struct Case {
        const char* what;
        const char* spec;
        std::string_view node;
        const char* expected;
    };
    const Case cases[] = {
        {"servers and domains come after the node's, each once",
         R"({"dnsConfig":{"nameservers":["192.0.2.1","192.0.2.9"],"searches":["corp","jobs.example"]}})",
         kNode,
         "nameserver 169.254.1.53\nnameserver 192.0.2.1\nnameserver 192.0.2.9\n"
         "search lan corp jobs.example\noptions ndots:2 rotate\nsortlist 192.0.2.0\n"},
        {"options of the pod replace the node's of the same name",
         R"({"dnsConfig":{"options":[{"name":"ndots","value":"5"},{"name":"use-vc"}]}})", kNode,
         "nameserver 169.254.1.53\nnameserver 192.0.2.1\nsearch lan corp\n"
         "options ndots:5 rotate use-vc\nsortlist 192.0.2.0\n"},
        {"None: nothing of the node's",
         R"({"dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.9"],"options":[{"name":"edns0"}]}})",
         kNode, "nameserver 192.0.2.9\noptions edns0\n"},
        {"a machine without a file", R"({"dnsConfig":{"searches":["lan"]}})", "", "search lan\n"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.what);
        const PodResolvConf made = resolv_conf_of_pod(c.node, dns_of(c.spec));
        EXPECT_EQ(made.text, c.expected);
        EXPECT_TRUE(made.omitted.empty());
    }
}

TEST(PodDns, ServersThatTheLibraryWouldNotAskAreLeftOut) {
    const PodResolvConf made = resolv_conf_of_pod(
        kNode, dns_of(R"({"dnsConfig":{"nameservers":["192.0.2.8","192.0.2.9"]}})"));
    EXPECT_TRUE(made.text.starts_with(
        "nameserver 169.254.1.53\nnameserver 192.0.2.1\nnameserver 192.0.2.8\nsearch"))
        << made.text;
    EXPECT_EQ(made.omitted, std::vector<std::string>{"192.0.2.9"});
}

}  // namespace
}  // namespace muster::runtime::pod_dns_test
