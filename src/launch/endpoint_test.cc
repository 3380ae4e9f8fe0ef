#include "launch/endpoint.h"

#include <gtest/gtest.h>

namespace muster::launch::endpoint_test {
namespace {

TEST(EndpointText, IsReadAndWritten) {
    struct Row {
        std::string text;
        std::string host;
        int port = 0;
        std::string written;
    };
    const Row kRows[] = {
        {"node0", "node0", 29400, "node0:29400"},
        {"node0:1", "node0", 1, "node0:1"},
        {"Job-Worker-0.svc:23456", "Job-Worker-0.svc", 23456, "Job-Worker-0.svc:23456"},
        {"10.0.0.1:0", "10.0.0.1", 0, "10.0.0.1:0"},
        {"[::1]:29500", "::1", 29500, "[::1]:29500"},
        {"[fd00::1]", "fd00::1", 29400, "[fd00::1]:29400"},
        {"fd00::1", "fd00::1", 29400, "[fd00::1]:29400"},
        {"[0:0:0:0:0:0:0:1]", "0:0:0:0:0:0:0:1", 29400, "[0:0:0:0:0:0:0:1]:29400"},
    };
    for (const Row& row : kRows) {
        const auto endpoint = parse_endpoint(row.text, 29400);
        ASSERT_TRUE(endpoint) << row.text;
        EXPECT_EQ(endpoint->host, row.host);
        EXPECT_EQ(endpoint->port, row.port);
        EXPECT_EQ(endpoint->text(), row.written);
    }
    for (const char* bad :
         {"", ":", ":29400", "node0:", "node0:x", "node0:65536", "node0:-1", "a b", "node0:1:2",
          "[::1", "[node0]:1", "[::1]1", "http://node0:1", "a/b"})
        EXPECT_FALSE(parse_endpoint(bad, 29400)) << bad;
}

TEST(EndpointHost, IsThisNode) {
    const NodeNames node{{"node0", "node0.cluster"}, {"10.0.0.7", "fd00::7"}};
    for (const char* own : {"node0", "NODE0", "node0.cluster", "10.0.0.7", "fd00:0::7", "localhost",
                            "127.0.0.1", "127.0.1.1", "::1"})
        EXPECT_TRUE(is_this_node(own, {}, node)) << own;
    EXPECT_FALSE(is_this_node("node1", {}, node));
    EXPECT_FALSE(is_this_node("10.0.0.8", {}, node));
    EXPECT_TRUE(is_this_node("alias", {"10.0.0.7"}, node));
    EXPECT_TRUE(is_this_node("alias", {"127.0.1.1"}, node)) << "as Debian names a machine";
    EXPECT_FALSE(is_this_node("alias", {"10.0.0.8"}, node));
}

TEST(AddressForOthers, Table) {
    struct Row {
        AddressChoices choices;
        std::string address;
    };
    const std::vector<std::string> interfaces = {"127.0.0.1", "fe80::1", "169.254.3.4", "fd00::7",
                                                 "10.0.0.7"};
    const Row kRows[] = {
        {{.local_addr = "me", .one_machine = true}, "me"},
        {{.one_machine = true, .pod_ip = "10.1.1.1"}, "127.0.0.1"},
        {{.pod_ip = "10.1.1.1", .towards_master = "10.0.0.9"}, "10.1.1.1"},
        {{.pod_ip = "", .towards_master = "10.0.0.9", .interfaces = interfaces}, "10.0.0.9"},
        {{.towards_master = "127.0.0.1", .of_name = {"127.0.1.1", "10.0.0.3"}}, "10.0.0.3"},
        {{.of_name = {"127.0.1.1"}, .interfaces = interfaces}, "10.0.0.7"},
        {{.interfaces = {"::1", "fe80::1", "fd00::7"}}, "fd00::7"},
        {{.interfaces = {"127.0.0.1", "fe80::1"}}, ""},
    };
    for (const Row& row : kRows) EXPECT_EQ(address_for_others(row.choices), row.address);
}

}  // namespace
}  // namespace muster::launch::endpoint_test
