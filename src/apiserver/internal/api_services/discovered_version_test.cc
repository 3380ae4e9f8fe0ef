#include "apiserver/internal/api_services/discovered_version.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::apiserver::discovered_version_test {
namespace {

TEST(DiscoveredVersion, IsWhatAggregatedDiscoveryLists) {
    const auto version = read_resource_list(R"({"kind":"APIResourceList","apiVersion":"v1",
        "groupVersion":"a.org/v1","resources":[
        {"name":"things/status","kind":"Thing","namespaced":true,"verbs":["get"]},
        {"name":"things","singularName":"thing","namespaced":true,"kind":"Thing",
         "verbs":["get","list"],"shortNames":["th"],"categories":["all"],"storageVersionHash":"x"},
        {"name":"lone/scale","kind":"Scale","namespaced":false,"verbs":["get"]},
        {"name":"wide","kind":"Wide","group":"b.org","version":"v2","verbs":["create"]}]})");
    ASSERT_TRUE(version) << version.error().message();
    EXPECT_EQ(json::value(version->resources), json::parse(R"([
        {"resource":"things","responseKind":{"group":"","version":"","kind":"Thing"},
         "scope":"Namespaced","singularResource":"thing","verbs":["get","list"],
         "shortNames":["th"],"categories":["all"],"subresources":[
           {"subresource":"status","responseKind":{"group":"","version":"","kind":"Thing"},
            "verbs":["get"]}]},
        {"resource":"wide","responseKind":{"group":"b.org","version":"v2","kind":"Wide"},
         "scope":"Cluster","singularResource":"","verbs":["create"]}])"));
    EXPECT_EQ(version->bytes, json::serialize(version->resources).size());
}

TEST(DiscoveredVersion, WhatIsOddInItIsLeftOut) {
    const auto version = read_resource_list(R"({"kind":"APIResourceList","resources":[
        1,null,{},{"name":""},{"name":"../x"},{"name":"a/b/c"},{"name":"a\u0000"},
        {"name":"twice","verbs":[1,"get",{}]},{"name":"twice","verbs":["list"]},
        {"name":"twice/"},{"name":"/status"},{"name":7}]})");
    ASSERT_TRUE(version);
    ASSERT_EQ(version->resources.size(), 1u);
    EXPECT_EQ(version->resources.at(0).at("verbs"), json::array{"get"});
}

TEST(DiscoveredVersion, WhatIsNoListIsRefused) {
    std::string many = R"({"kind":"APIResourceList","resources":[)";
    for (int i = 0; i < 1001; ++i) many += fmt::format(R"({{"name":"r{}"}},)", i);
    many.back() = ']';
    many += '}';
    std::string deep(100'000, '[');
    for (const std::string& text :
         {std::string(), std::string("x"), std::string("[]"), std::string(R"({"kind":"Status"})"),
          std::string("{\"kind\":\"APIResourceList\xff\"}"), many, deep})
        EXPECT_FALSE(read_resource_list(text)) << text.substr(0, 40);
    EXPECT_TRUE(read_resource_list(R"({"kind":"APIResourceList"})"));
    EXPECT_TRUE(read_resource_list(R"({"kind":"APIResourceList","resources":{}})"));
}

TEST(DiscoveredVersion, TheUrlOfItsOpenApiDocument) {
    ExtensionServer server;
    server.group = "a.org";
    server.version = "v1";
    const auto read = [&](std::string_view url) {
        return openapi_url_in(
            fmt::format(R"({{"paths":{{"apis/a.org/v1":{{"serverRelativeURL":"{}"}}}}}})", url),
            server);
    };
    const std::string plain = "/openapi/v3/apis/a.org/v1";
    EXPECT_EQ(read(plain + "?hash=AB"), plain + "?hash=AB");
    EXPECT_EQ(read(plain), plain);
    for (const std::string& odd : {std::string("https://evil.org/"), plain + "/x", plain + "?a b",
                                   std::string(), plain + "?" + std::string(2000, 'x')})
        EXPECT_EQ(read(odd), plain) << odd.substr(0, 60);
    for (const char* none : {"", "{}", "[]", R"({"paths":{"apis/b.org/v1":{}}})", R"({"paths":1})"})
        EXPECT_EQ(openapi_url_in(none, server), "") << none;
}

}  // namespace
}  // namespace muster::apiserver::discovered_version_test
