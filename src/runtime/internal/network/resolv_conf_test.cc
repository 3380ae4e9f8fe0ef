#include "runtime/internal/network/resolv_conf.h"

#include <gtest/gtest.h>

namespace muster::runtime::resolv_conf_test {
namespace {

constexpr std::uint32_t kForwarder = 0xA9FE0135;

TEST(ResolvConf, PodsResolveAsTheMachineDoes) {
    struct Case {
        const char* what;
        const char* machine;
        const char* behind;
        const char* pods;
    };
    const Case cases[] = {
        {"servers elsewhere are asked directly",
         "# made by hand\nnameserver 192.0.2.53\nnameserver 192.0.2.54\nsearch lan example.com\n"
         "options ndots:2 rotate\n",
         "nameserver 203.0.113.1\n",
         "nameserver 192.0.2.53\nnameserver 192.0.2.54\nsearch lan example.com\n"
         "options ndots:2 rotate\n"},
        {"systemd's resolver: through the forwarder, with its own servers behind",
         "nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch lan\n",
         "nameserver 192.0.2.53\nsearch elsewhere\n",
         "nameserver 169.254.1.53\nnameserver 192.0.2.53\noptions edns0 trust-ad\nsearch lan\n"},
        {"a resolver of one's own first, others after",
         "nameserver 127.0.0.1\nnameserver 192.0.2.1\n", "",
         "nameserver 169.254.1.53\nnameserver 192.0.2.1\n"},
        {"a resolver of one's own that is not the first is out of reach",
         "nameserver 192.0.2.1\nnameserver 127.0.0.1\n", "", "nameserver 192.0.2.1\n"},
        {"no server named means loopback", "search lan\n", "",
         "nameserver 169.254.1.53\nsearch lan\n"},
        {"pods have no IPv6",
         "nameserver fe80::1%eth0\nnameserver 2001:db8::1\nnameserver 192.0.2.1", "",
         "nameserver 192.0.2.1\n"},
        {"no more than are asked",
         "nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n",
         "", "nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n"},
        {"blanks and nonsense", "\tnameserver\t192.0.2.1 \r\nnameserver\nnameserver x\nfoo bar\n",
         "", "nameserver 192.0.2.1\n"},
        {"nothing at all", "", "", "nameserver 169.254.1.53\n"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.what);
        const ResolvConf made = resolv_conf_with_egress(c.machine, c.behind, kForwarder);
        EXPECT_EQ(made.text, c.pods);
        EXPECT_EQ(made.forwarded, made.text.contains("169.254.1.53"));
    }
}

TEST(ResolvConf, WithoutEgressQuestionsAreRefusedOnceAndAtOnce) {
    EXPECT_EQ(resolv_conf_without_egress(0xA9FE0101),
              "nameserver 169.254.1.1\noptions attempts:1\n");
}

}  // namespace
}  // namespace muster::runtime::resolv_conf_test
