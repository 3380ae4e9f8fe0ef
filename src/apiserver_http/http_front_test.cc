#include <gmock/gmock.h>

#include "apiserver_http/front_fixture.h"

namespace muster::apiserver_http::http_front_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
constexpr const char* kMetadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

using HttpFrontTest = FrontFixture;

TEST_F(HttpFrontTest, WritesAndReads) {
    const net::HttpResponse made = post(kMaps, config_map("a"));
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(made.headers.find("Content-Type"), "application/json");
    EXPECT_EQ(made.headers.find("Cache-Control"), "no-cache, private");
    EXPECT_EQ(parsed(made).at("metadata").at("name"), "a");
    EXPECT_EQ(parsed(get(kMaps + "/a")).at("data").at("v"), "1");
    // kubectl scale sends no Content-Type.
    json::value changed = parsed(made);
    changed.at("data").as_object()["v"] = "2";
    EXPECT_EQ(send(request("PUT", kMaps + "/a", json::serialize(changed))).status, 200);
    EXPECT_EQ(send(request("PATCH", kMaps + "/a", R"({"data":{"w":"3"}})",
                           {{"Content-Type", "application/merge-patch+json"}}))
                  .status,
              200);
    EXPECT_EQ(parsed(get(kMaps + "/a")).at("data"), json::value({{"v", "2"}, {"w", "3"}}));
    const json::value list = parsed(get(kMaps));
    EXPECT_EQ(list.at("kind"), "ConfigMapList");
    EXPECT_EQ(list.at("items").as_array().size(), 1);
    EXPECT_EQ(parsed(get("/api/v1/namespaces/none/configmaps")).at("items").as_array().size(), 0);
    EXPECT_EQ(send(request("DELETE", kMaps + "/a")).status, 200);
    EXPECT_EQ(reason(get(kMaps + "/a")), "404 NotFound");
}

TEST_F(HttpFrontTest, WhoMayComeIn) {
    const auto as = [&](std::string authorization, std::string target) {
        return send(request("GET", std::move(target), "", {{"Authorization", authorization}}));
    };
    EXPECT_EQ(reason(as("Bearer wrong", kPods)), "401 Unauthorized");
    EXPECT_EQ(reason(as("Bearer wrong", "/healthz")), "401 Unauthorized");
    net::HttpRequest nobody = request("GET", kPods);
    nobody.headers.erase("Authorization");
    EXPECT_EQ(reason(send(nobody)), "403 Forbidden");
    nobody.target = "/livez";
    EXPECT_EQ(send(nobody).body, "ok");
    nobody.target = "/readyz?verbose";
    EXPECT_EQ(send(nobody).body, "[+]ping ok\n[+]store ok\nreadyz check passed\n");
    nobody.target = "/apis";
    EXPECT_EQ(reason(send(nobody)), "403 Forbidden");
    nobody.method = "POST";
    nobody.target = kMaps;
    nobody.body = config_map("a");
    EXPECT_EQ(reason(send(nobody)), "403 Forbidden");
    EXPECT_EQ(reason(get(kMaps + "/a")), "404 NotFound") << "it was not made";
}

TEST_F(HttpFrontTest, WhatCantBeServedIsRefusedAsARealServerDoes) {
    EXPECT_EQ(get("/apis/none.io/v1/things").body, "404 page not found\n");
    EXPECT_EQ(get("/nothing").status, 404);
    EXPECT_EQ(reason(get("/api/v1/things")), "404 NotFound");
    EXPECT_EQ(reason(get(kPods + "/a/b/c")), "404 NotFound");
    EXPECT_EQ(reason(get("/api/v1/namespaces/a%2Fb/pods")), "400 BadRequest");
    EXPECT_EQ(reason(get("/api/v1/../v1/pods")), "400 BadRequest");
    EXPECT_EQ(reason(send(request("OPTIONS", kPods))), "405 MethodNotAllowed");
    EXPECT_EQ(reason(send(request("PUT", "/apis"))), "405 MethodNotAllowed");
    EXPECT_EQ(reason(post(kMaps, "{")), "400 BadRequest");
    EXPECT_EQ(reason(post(kMaps, config_map("a"), "text/plain")), "415 UnsupportedMediaType");
    EXPECT_EQ(
        reason(send(request("PATCH", kMaps + "/a", "{}", {{"Content-Type", "application/json"}}))),
        "415 UnsupportedMediaType");
    EXPECT_EQ(reason(post(kMaps, "not protobuf", "application/vnd.kubernetes.protobuf")),
              "400 BadRequest");
    EXPECT_EQ(get(kPods, "application/vnd.kubernetes.protobuf").status, 406);
    EXPECT_EQ(get(kPods + "?includeObject=All").status, 400);
}

TEST_F(HttpFrontTest, FieldsThatComeTwiceAreWarnedAboutOrRefused) {
    const std::string twice = R"({"metadata":{"name":"a"},"data":{"v":"1","v":"2"},"dota":1})";
    const net::HttpResponse warned = post(kMaps, twice);
    EXPECT_EQ(warned.status, 201);
    std::vector<std::string> warnings;
    for (const net::HttpHeader field : warned.headers)
        if (field.name == "Warning") warnings.emplace_back(field.value);
    EXPECT_THAT(warnings, ElementsAre(R"(299 - "duplicate field \"data.v\"")",
                                      R"(299 - "unknown field \"dota\"")"));
    const net::HttpResponse strict = post(kMaps + "?fieldValidation=Strict", twice);
    EXPECT_EQ(reason(strict), "400 BadRequest");
    EXPECT_THAT(strict.body,
                HasSubstr(R"(strict decoding error: duplicate field \"data.v\", unknown )"
                          R"(field \"dota\")"));
    const net::HttpResponse ignored = post(kMaps + "?fieldValidation=Ignore",
                                           R"({"metadata":{"name":"b"},"data":{"v":"1","v":"2"}})");
    EXPECT_EQ(ignored.status, 201);
    EXPECT_FALSE(ignored.headers.contains("Warning"));
}

TEST_F(HttpFrontTest, TablesAndMetadata) {
    post(kPods, pod("a"));
    post(kPods, pod("b"));
    const json::value table = parsed(get(kPods + "?limit=1", kTable));
    EXPECT_EQ(table.at("kind"), "Table");
    EXPECT_EQ(table.at("rows").as_array().size(), 1);
    EXPECT_EQ(table.at_pointer("/rows/0/cells/0"), "a");
    EXPECT_EQ(table.at_pointer("/rows/0/object/kind"), "PartialObjectMetadata");
    EXPECT_TRUE(table.at("metadata").as_object().contains("continue"));
    EXPECT_EQ(table.at("metadata").at("remainingItemCount"), 1);
    EXPECT_EQ(parsed(get(kPods + "/b", kTable)).at_pointer("/rows/0/cells/0"), "b");
    EXPECT_EQ(
        parsed(get(kPods + "/b?includeObject=Object", kTable)).at_pointer("/rows/0/object/kind"),
        "Pod");
    EXPECT_EQ(reason(get(kPods + "/c", kTable)), "404 NotFound") << "a Status is not a row";
    const json::value metadata = parsed(get(kPods + "/a", kMetadata));
    EXPECT_EQ(metadata.at("kind"), "PartialObjectMetadata");
    EXPECT_FALSE(metadata.as_object().contains("spec"));
    const json::value list = parsed(get(kPods, kMetadata));
    EXPECT_EQ(list.at("kind"), "PartialObjectMetadataList");
    EXPECT_EQ(list.at("items").as_array().size(), 2);
}

TEST_F(HttpFrontTest, AWatchIsALineForEachChange) {
    post(kMaps, config_map("a"));
    const auto watch = open(kMaps + "?watch=1&resourceVersion=0");
    EXPECT_EQ(watch->head().headers.find("Content-Type"), "application/json");
    post(kMaps, config_map("b"));
    send(request("DELETE", kMaps + "/a"));
    const std::vector<std::string> seen = lines(*watch, 3);
    ASSERT_EQ(seen.size(), 3);
    EXPECT_THAT(seen[0], StartsWith(R"({"type":"ADDED","object":{)"));
    EXPECT_EQ(json::parse(seen[1]).at_pointer("/object/metadata/name"), "b");
    EXPECT_EQ(json::parse(seen[2]).at("type"), "DELETED");
    EXPECT_EQ(json::parse(seen[2]).at_pointer("/object/metadata/name"), "a");
    EXPECT_EQ(reason(get(kMaps + "?watch=1&resourceVersion=x")), "500 InternalError");
    const net::HttpResponse refused = get(kMaps + "?watch=1&sendInitialEvents=true");
    EXPECT_EQ(reason(refused), "422 Invalid");
    EXPECT_EQ(parsed(refused).at_pointer("/details/kind"), "ListOptions");
    EXPECT_EQ(parsed(get(kPods + "/none/log")).at_pointer("/details/name"), "none");
    const auto old = open("/api/v1/watch/namespaces/default/configmaps?resourceVersion=0");
    EXPECT_THAT(lines(*old, 1), ElementsAre(HasSubstr(R"("name":"b")")));
}

TEST_F(HttpFrontTest, AWatchOfRowsHasItsColumnsOnce) {
    post(kPods, pod("a"));
    const auto watch = open(kPods + "?watch=true&resourceVersion=0", kTable);
    post(kPods, pod("b"));
    const std::vector<std::string> seen = lines(*watch, 2);
    ASSERT_EQ(seen.size(), 2);
    const json::value first = json::parse(seen[0]);
    const json::value second = json::parse(seen[1]);
    EXPECT_EQ(first.at("object").at("kind"), "Table");
    EXPECT_TRUE(first.at("object").at("columnDefinitions").is_array());
    EXPECT_TRUE(second.at("object").at("columnDefinitions").is_null());
    EXPECT_EQ(second.at_pointer("/object/rows/0/cells/0"), "b");
}

TEST_F(HttpFrontTest, EveryWatcherOfAChangeGetsTheSameText) {
    const auto one = open(kMaps + "?watch=1");
    const auto two = open(kMaps + "?watch=1");
    post(kMaps, config_map("a"));
    EXPECT_EQ(lines(*one, 1), lines(*two, 1));
}

TEST_F(HttpFrontTest, WhatDescribesTheServer) {
    EXPECT_EQ(parsed(get("/version")).at("major"), "1");
    EXPECT_EQ(parsed(get("/api")).at("kind"), "APIVersions");
    EXPECT_EQ(parsed(get("/apis")).at("kind"), "APIGroupList");
    EXPECT_EQ(parsed(get("/apis/coordination.k8s.io")).at("kind"), "APIGroup");
    EXPECT_EQ(parsed(get("/api/v1")).at("kind"), "APIResourceList");
    EXPECT_EQ(parsed(get("/apis/coordination.k8s.io/v1/")).at("kind"), "APIResourceList");
    EXPECT_TRUE(parsed(get("/")).at("paths").is_array());
    const net::HttpResponse aggregated = get("/apis", kAggregated);
    EXPECT_EQ(aggregated.headers.find("Content-Type"), kAggregated);
    EXPECT_EQ(parsed(aggregated).at("kind"), "APIGroupDiscoveryList");

    const json::value index = parsed(get("/openapi/v3"));
    const std::string url(index.at("paths").at("api/v1").at("serverRelativeURL").as_string());
    const net::HttpResponse document = get(url);
    EXPECT_EQ(parsed(document).at("openapi"), "3.0.0");
    EXPECT_EQ(document.headers.find("Cache-Control"), "public, immutable");
    net::HttpRequest again = request("GET", url);
    again.headers.add("If-None-Match", *document.headers.find("ETag"));
    EXPECT_EQ(send(again).status, 304);
    EXPECT_EQ(get("/openapi/v3/apis/none.io/v1").status, 404);
}

TEST_F(HttpFrontTest, AFutureRevisionIsAskedForAgain) {
    const net::HttpResponse answer = get(kPods + "?resourceVersion=1000000");
    EXPECT_EQ(reason(answer), "504 Timeout");
    EXPECT_EQ(answer.headers.find("Retry-After"), "1");
}

}  // namespace
}  // namespace muster::apiserver_http::http_front_test
