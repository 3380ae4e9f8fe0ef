#include "control_plane/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::control_plane::listen_address_test {
namespace {

using testing::Contains;
using testing::Not;

TEST(ListenAddress, AnIpAddressWithOrWithoutAPort) {
    struct Case {
        const char* text;
        ListenAddress parsed;
    };
    for (const Case& c : {Case{"127.0.0.1", {"127.0.0.1", 6443}},
                          Case{"127.0.0.1:0", {"127.0.0.1", 0}}, Case{":7443", {"127.0.0.1", 7443}},
                          Case{"0.0.0.0:65535", {"0.0.0.0", 65535}}, Case{"::1", {"::1", 6443}},
                          Case{"[::1]", {"::1", 6443}}, Case{"[fe80::2]:8443", {"fe80::2", 8443}}})
        EXPECT_EQ(parse_listen_address(c.text), c.parsed) << c.text;
    for (const char* text :
         {"localhost", "localhost:6443", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
          "127.0.0.1:-1", "127.0.0", "[::1", "[::1]6443", "[::1]:", "1.2.3.4:5:6"})
        EXPECT_EQ(parse_listen_address(text), std::nullopt) << text;
}

TEST(ListenAddress, TheUrlIsOneThatClientsHereCanUse) {
    EXPECT_EQ((ListenAddress{"127.0.0.1", 0}.url(4000)), "https://127.0.0.1:4000");
    EXPECT_EQ((ListenAddress{"0.0.0.0", 6443}.url(6443)), "https://127.0.0.1:6443");
    EXPECT_EQ((ListenAddress{"::", 6443}.url(6443)), "https://[::1]:6443");
    EXPECT_EQ((ListenAddress{"10.1.2.3", 6443}.url(6443)), "https://10.1.2.3:6443");
}

TEST(ListenAddress, TheCertificateNamesWhatClientsMayUse) {
    const net::ServerNames machine{{"10.1.2.3", "127.0.0.1"}, {"box"}};
    const net::ServerNames loopback = server_names({"127.0.0.2", 1}, machine);
    EXPECT_THAT(loopback.addresses, Contains("127.0.0.2"));
    EXPECT_THAT(loopback.addresses, Contains("::1"));
    EXPECT_THAT(loopback.addresses, Not(Contains("10.1.2.3")));
    EXPECT_THAT(loopback.dns_names, Contains("kubernetes.default.svc"));
    EXPECT_THAT(loopback.dns_names, Not(Contains("box")));
    const net::ServerNames one = server_names({"10.9.9.9", 1}, machine);
    EXPECT_THAT(one.addresses, Contains("10.9.9.9"));
    EXPECT_THAT(one.addresses, Not(Contains("10.1.2.3")));
    EXPECT_THAT(one.dns_names, Contains("box"));
    EXPECT_THAT(server_names({"0.0.0.0", 1}, machine).addresses, Contains("10.1.2.3"));
}

TEST(ListenAddress, TheMachineHasLoopbackAndAName) {
    const net::ServerNames names = machine_names();
    EXPECT_THAT(names.addresses, Contains("127.0.0.1"));
    EXPECT_FALSE(names.dns_names.empty());
}

}  // namespace
}  // namespace muster::control_plane::listen_address_test
