#include "jobs/internal/text.h"

#include <gtest/gtest.h>

namespace muster::jobs {
namespace {

const std::string k63(63, 'a');

TEST(Names, Dns1035) {
    for (const char* good : {"a", "a1", "a-b", "a--b"}) EXPECT_TRUE(is_dns1035(good)) << good;
    for (const char* bad : {"", "1a", "-a", "a-", "A", "a_b", "a.b", "\xc3\xa9"})
        EXPECT_FALSE(is_dns1035(bad)) << bad;
}

TEST(Names, Dns1123Label) {
    for (const char* good : {"a", "1", "1a", "a-b"}) EXPECT_TRUE(is_dns1123_label(good)) << good;
    for (const char* bad : {"", "-a", "a-", "A", "a.b"}) EXPECT_FALSE(is_dns1123_label(bad)) << bad;
    EXPECT_TRUE(is_dns1123_label(k63));
    EXPECT_FALSE(is_dns1123_label(k63 + "a"));
}

TEST(Names, Ports) {
    for (const char* good : {"a", "http", "a-1", "pytorchjob-port"})
        EXPECT_TRUE(is_port_name(good)) << good;
    for (const char* bad : {"", "1", "1-2", "a--b", "-a", "a-", "A", "pytorchjob-ports"})
        EXPECT_FALSE(is_port_name(bad)) << bad;
}

TEST(Names, NearestAllowedOne) {
    EXPECT_EQ(dns1035_from("My_Job!"), "my-job");
    EXPECT_EQ(dns1035_from("0-demo"), "demo");
    EXPECT_EQ(dns1035_from("a__b"), "a-b");
    EXPECT_EQ(dns1035_from("42"), "");
    EXPECT_EQ(dns1035_from(""), "");
}

TEST(Text, Choices) {
    EXPECT_EQ(one_of({"a"}), "\"a\"");
    EXPECT_EQ(one_of({"a", "b", "c"}), "\"a\", \"b\" or \"c\"");
    EXPECT_EQ(did_you_mean("Wroker", {"Master", "Worker"}), " (did you mean \"Worker\"?)");
    EXPECT_EQ(did_you_mean("zzz", {"Master", "Worker"}), "");
}

}  // namespace
}  // namespace muster::jobs
