#include "apiserver/aggregation/extension_servers.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::apiserver::extension_servers_test {
namespace {

ExtensionServer server(std::string group, std::string version = "v1") {
    ExtensionServer made;
    made.name = version + "." + group;
    made.group = std::move(group);
    made.version = std::move(version);
    return made;
}

std::shared_ptr<const DiscoveredVersion> said(std::size_t bytes, std::string_view name = "a") {
    DiscoveredVersion version;
    version.resources.emplace_back(name);
    version.bytes = bytes;
    return std::make_shared<const DiscoveredVersion>(std::move(version));
}

TEST(ExtensionServersTest, APathIsServedByTheOneOfItsVersion) {
    ExtensionServers servers;
    EXPECT_EQ(servers.serving("/apis/a.org/v1/things"), nullptr);
    ASSERT_TRUE(servers.put(server("a.org")));
    for (const char* path : {"/apis/a.org/v1", "/apis/a.org/v1/", "/apis/a.org/v1/things/x"})
        EXPECT_NE(servers.serving(path), nullptr) << path;
    for (const char* path : {"/apis", "/apis/", "/apis/a.org", "/apis/a.org/", "/apis/a.org/v1b",
                             "/apis/b.org/v1", "/api/v1", "/apis/a.org/v", "", "/"})
        EXPECT_EQ(servers.serving(path), nullptr) << path;
}

TEST(ExtensionServersTest, WhatOneSaidIsForgottenWhenAnotherTakesItsPlace) {
    ExtensionServers servers;
    ASSERT_TRUE(servers.put(server("a.org")));
    servers.learn("a.org/v1", said(10));
    EXPECT_TRUE(servers.find("a.org/v1")->fresh);
    ExtensionServer other = server("a.org");
    other.available = true;
    ASSERT_TRUE(servers.put(other));
    EXPECT_NE(servers.find("a.org/v1")->said, nullptr) << "only whether it can be reached changed";
    other.port = 1;
    ASSERT_TRUE(servers.put(other));
    EXPECT_EQ(servers.find("a.org/v1")->said, nullptr);
}

TEST(ExtensionServersTest, OneThatDoesNotAnswerIsNoLongerFresh) {
    ExtensionServers servers;
    ASSERT_TRUE(servers.put(server("a.org")));
    servers.learn("a.org/v1", said(10));
    const std::uint64_t before = servers.generation();
    servers.learn("a.org/v1", said(10));
    EXPECT_EQ(servers.generation(), before) << "it said the same";
    servers.learn("a.org/v1", nullptr);
    EXPECT_GT(servers.generation(), before);
    EXPECT_FALSE(servers.find("a.org/v1")->fresh);
    EXPECT_NE(servers.find("a.org/v1")->said, nullptr);
    servers.learn("b.org/v1", said(10));  // it is gone by now
}

TEST(ExtensionServersTest, WhatTheySayHasALimitForEachAndForAll) {
    ExtensionServers servers;
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(servers.put(server(fmt::format("g{}.org", i))));
    servers.learn("g0.org/v1", said(ExtensionServers::kLargest + 1));
    EXPECT_EQ(servers.find("g0.org/v1")->said, nullptr);
    for (int i = 0; i < 5; ++i)
        servers.learn(fmt::format("g{}.org/v1", i), said(ExtensionServers::kLargest));
    EXPECT_NE(servers.find("g3.org/v1")->said, nullptr);
    EXPECT_EQ(servers.find("g4.org/v1")->said, nullptr) << "no room";
    servers.remove("g0.org/v1");
    servers.learn("g4.org/v1", said(ExtensionServers::kLargest));
    EXPECT_NE(servers.find("g4.org/v1")->said, nullptr);
}

TEST(ExtensionServersTest, ThereIsALimitToTheirNumber) {
    ExtensionServers servers;
    for (std::size_t i = 0; i < ExtensionServers::kMost; ++i)
        ASSERT_TRUE(servers.put(server(fmt::format("g{}.org", i))));
    EXPECT_FALSE(servers.put(server("more.org")));
    EXPECT_TRUE(servers.put(server("g0.org")));
    servers.remove("g0.org/v1");
    EXPECT_TRUE(servers.put(server("more.org")));
}

TEST(ExtensionServerOf, WhatHasAServiceIsServedElsewhere) {
    const auto read = [](std::string_view spec) {
        return extension_server_of(
            json::parse(fmt::format(R"({{"metadata":{{"name":"v1.a.org"}},"spec":{}}})", spec))
                .get_object());
    };
    EXPECT_FALSE(read(R"({"group":"a.org","version":"v1"})"));
    EXPECT_FALSE(read(R"({"version":"v1","service":{"namespace":"n","name":"s"}})"));
    EXPECT_FALSE(read(R"({"group":"apiregistration.k8s.io","version":"v1",
                          "service":{"namespace":"n","name":"s"}})"));
    const auto server = read(R"({"group":"a.org","version":"v1","caBundle":"YWI=",
        "groupPriorityMinimum":5,"versionPriority":6,
        "service":{"namespace":"n","name":"s","port":8443}})");
    ASSERT_TRUE(server);
    EXPECT_EQ(server->path(), "/apis/a.org/v1");
    EXPECT_EQ(server->service, (ServiceName{"n", "s"}));
    EXPECT_EQ(server->port, 8443);
    EXPECT_EQ(server->ca_pem, "ab");
    EXPECT_EQ(server->group_priority, 5);
    EXPECT_EQ(server->version_priority, 6);
    EXPECT_FALSE(server->available);
}

}  // namespace
}  // namespace muster::apiserver::extension_servers_test
