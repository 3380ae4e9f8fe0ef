#include "apiserver_http/internal/discovery/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "apiserver/registry_fixture.h"
#include "apiserver/requests/router.h"

namespace muster::apiserver_http::discovery_test {
namespace {

using testing::Contains;
using testing::ElementsAre;

class DiscoveryTest : public ::testing::Test, protected apiserver::RegistryFixture {
  protected:
    apiserver::ExtensionServers extensions_;
};

/// The object of a list whose field has that value.
json::object entry(const json::value& list, std::string_view key, std::string_view value) {
    for (const json::value& item : list.as_array())
        if (item.at(key).as_string() == value) return item.get_object();
    ADD_FAILURE() << "no " << value << " in " << json::serialize(list);
    return {};
}

TEST_F(DiscoveryTest, TheCoreGroupAggregated) {
    const json::object document = aggregated_core(registry_);
    EXPECT_EQ(document.at("kind"), "APIGroupDiscoveryList");
    EXPECT_EQ(document.at("apiVersion"), "apidiscovery.k8s.io/v2");
    ASSERT_EQ(document.at("items").as_array().size(), 1u);
    const json::value& item = document.at("items").at(0);
    EXPECT_EQ(item.at("metadata"), json::object());
    ASSERT_EQ(item.at("versions").as_array().size(), 1u);
    EXPECT_EQ(item.at("versions").at(0).at("version"), "v1");
    EXPECT_EQ(item.at("versions").at(0).at("freshness"), "Current");
    EXPECT_EQ(json::value(entry(item.at("versions").at(0).at("resources"), "resource", "pods")),
              json::parse(R"({"resource":"pods",
                "responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced",
                "singularResource":"pod",
                "verbs":["create","delete","deletecollection","get","list","patch","update","watch"],
                "shortNames":["po"],"categories":["all"],"subresources":[
                  {"subresource":"attach","responseKind":
                   {"group":"","version":"","kind":"PodAttachOptions"},"verbs":["create","get"]},
                  {"subresource":"binding",
                   "responseKind":{"group":"","version":"","kind":"Binding"},"verbs":["create"]},
                  {"subresource":"ephemeralcontainers",
                   "responseKind":{"group":"","version":"","kind":"Pod"},
                   "verbs":["get","patch","update"]},
                  {"subresource":"eviction","responseKind":
                   {"group":"policy","version":"v1","kind":"Eviction"},"verbs":["create"]},
                  {"subresource":"exec","responseKind":
                   {"group":"","version":"","kind":"PodExecOptions"},"verbs":["create","get"]},
                  {"subresource":"log",
                   "responseKind":{"group":"","version":"","kind":"Pod"},"verbs":["get"]},
                  {"subresource":"portforward","responseKind":
                   {"group":"","version":"","kind":"PodPortForwardOptions"},
                   "verbs":["create","get"]},
                  {"subresource":"status","responseKind":{"group":"","version":"","kind":"Pod"},
                   "verbs":["get","patch","update"]}]})"));
}

TEST_F(DiscoveryTest, CustomResourcesComeBehindTheBuiltInGroups) {
    define("things", "Thing", "a.org",
           R"({"name":"v1alpha1","served":true,"storage":false},
              {"name":"v1","served":true,"storage":true,"subresources":{"scale":
                {"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}}},
              {"name":"v2","served":false,"storage":false},
              {"name":"v1beta1","served":true,"storage":false})");
    const json::object document = aggregated_groups(registry_, extensions_);
    std::vector<std::string> groups;
    for (const json::value& item : document.at("items").as_array())
        groups.emplace_back(item.at("metadata").at("name").as_string());
    EXPECT_THAT(
        groups,
        ElementsAre("apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io",
                    "authorization.k8s.io", "autoscaling", "batch", "networking.k8s.io", "policy",
                    "rbac.authorization.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io",
                    "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io",
                    "node.k8s.io", "discovery.k8s.io", "a.org", "metrics.k8s.io"));

    const json::value& versions = document.at("items").at(17).at("versions");
    std::vector<std::string> names;
    for (const json::value& version : versions.as_array())
        names.emplace_back(version.at("version").as_string());
    EXPECT_THAT(names, ElementsAre("v1", "v1beta1", "v1alpha1"));
    EXPECT_EQ(versions.at(0).at("resources").at(0), json::parse(R"({"resource":"things",
                "responseKind":{"group":"a.org","version":"v1","kind":"Thing"},"scope":"Namespaced",
                "singularResource":"onethings",
                "verbs":["create","delete","deletecollection","get","list","patch","update","watch"],
                "shortNames":["sh"],"categories":["all"],"subresources":[{"subresource":"scale",
                  "responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},
                  "verbs":["get","patch","update"]}]})"));
    EXPECT_FALSE(versions.at(1).at("resources").at(0).as_object().contains("subresources"));
}

TEST_F(DiscoveryTest, TheOlderDocuments) {
    define("things", "Thing", "a.org",
           R"({"name":"v1beta1","served":true,"storage":true},
              {"name":"v1","served":true,"storage":false,"subresources":{"scale":
                {"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}}})");
    EXPECT_EQ(json::value(api_versions("127.0.0.1:6443")),
              json::parse(R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":
                [{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:6443"}]})"));
    const json::value group = json::parse(R"({"name":"a.org","versions":[
        {"groupVersion":"a.org/v1","version":"v1"},
        {"groupVersion":"a.org/v1beta1","version":"v1beta1"}],
        "preferredVersion":{"groupVersion":"a.org/v1","version":"v1"}})");
    const json::object groups = api_group_list(registry_, extensions_);
    EXPECT_EQ(groups.at("kind"), "APIGroupList");
    EXPECT_EQ(json::value(entry(groups.at("groups"), "name", "a.org")), group);
    std::optional<json::object> one = api_group(registry_, extensions_, "a.org");
    ASSERT_TRUE(one);
    EXPECT_EQ(one->at("kind"), "APIGroup");
    one->erase("kind");
    one->erase("apiVersion");
    EXPECT_EQ(json::value(*one), group);
    EXPECT_FALSE(api_group(registry_, extensions_, "b.org"));
    EXPECT_FALSE(api_group(registry_, extensions_, ""));

    const std::optional<json::object> list = api_resource_list(registry_, "a.org/v1");
    ASSERT_TRUE(list);
    EXPECT_EQ(json::value(*list),
              json::parse(R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"a.org/v1",
                "resources":[{"name":"things","singularName":"onethings","namespaced":true,
                  "kind":"Thing","shortNames":["sh"],"categories":["all"],
                  "verbs":["create","delete","deletecollection","get","list","patch","update","watch"]},
                 {"name":"things/scale","singularName":"","namespaced":true,"group":"autoscaling",
                  "version":"v1","kind":"Scale","verbs":["get","patch","update"]}]})"));
    EXPECT_FALSE(api_resource_list(registry_, "a.org/v2"));
    const json::object core = *api_resource_list(registry_, "v1");
    EXPECT_EQ(entry(core.at("resources"), "name", "namespaces").at("namespaced"), false);
    EXPECT_EQ(entry(core.at("resources"), "name", "namespaces/finalize").at("verbs"),
              json::array{"update"});
    EXPECT_THAT(entry(core.at("resources"), "name", "namespaces").at("verbs").as_array(),
                testing::Not(Contains(json::value("deletecollection"))));
}

TEST_F(DiscoveryTest, WhatIsListedIsRouted) {
    define("things", "Thing", "a.org", R"({"name":"v1","served":true,"storage":true,"subresources":
        {"status":{},"scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}}})");
    for (const auto& [api_version, defs] : registry_.served()) {
        const json::object list = *api_resource_list(registry_, api_version);
        const std::string prefix = (api_version == "v1" ? "/api/" : "/apis/") + api_version;
        for (const json::value& row : list.at("resources").as_array()) {
            std::string name(row.at("name").as_string());
            if (const std::size_t slash = name.find('/'); slash != std::string::npos)
                name.insert(slash, "/x");
            const bool namespaced = row.at("namespaced").as_bool();
            const std::string path =
                fmt::format("{}{}/{}", prefix, namespaced ? "/namespaces/d" : "", name);
            EXPECT_TRUE(apiserver::route(registry_, path).has_value()) << path;
        }
    }
}

TEST_F(DiscoveryTest, PathsOfTheRoot) {
    const json::object document = root_paths(registry_, extensions_);
    for (const char* path :
         {"/api", "/api/v1", "/apis", "/apis/coordination.k8s.io", "/apis/coordination.k8s.io/v1",
          "/version", "/openapi/v2", "/openapi/v3"})
        EXPECT_THAT(document.at("paths").as_array(), Contains(json::value(path)));
}

TEST_F(DiscoveryTest, TheGenerationRisesWithEveryChange) {
    const std::uint64_t before = registry_.generation();
    define("things", "Thing", "a.org", R"({"name":"v1","served":true,"storage":true})");
    const std::uint64_t defined = registry_.generation();
    EXPECT_GT(defined, before);
    registry_.remove("things.a.org");
    EXPECT_GT(registry_.generation(), defined);
}

TEST(VersionDocument, IsOneThatClientsUnderstand) {
    const json::object document = version_document();
    EXPECT_EQ(document.at("major"), "1");
    EXPECT_EQ(document.at("minor"), "33");
    EXPECT_TRUE(document.at("gitVersion").as_string().starts_with("v1.33."));
    // The Python client's model refuses an answer that lacks one.
    for (const char* key :
         {"gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"})
        EXPECT_TRUE(document.at(key).is_string()) << key;
}

TEST(VersionOrder, StableBeforeBetaBeforeAlphaBeforeAllOthers) {
    const std::vector<std::string> sorted = {"v10",
                                             "v2",
                                             "v1",
                                             "v11beta2",
                                             "v10beta3",
                                             "v3beta1",
                                             "v12alpha1",
                                             "v11alpha2",
                                             "a",
                                             "foo1",
                                             "v01",
                                             "v1gamma1",
                                             "v99999999999999999999"};
    std::vector<std::string> shuffled = sorted;
    std::ranges::reverse(shuffled);
    std::ranges::sort(shuffled, is_preferred_version);
    EXPECT_EQ(shuffled, sorted);
    EXPECT_FALSE(is_preferred_version("v1", "v1"));
}

}  // namespace
}  // namespace muster::apiserver_http::discovery_test
