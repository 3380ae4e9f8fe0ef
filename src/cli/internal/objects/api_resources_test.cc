#include "cli/internal/objects/api_resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/internal/objects/object_words.h"

namespace muster::cli::api_resources_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kCore = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},
  "versions":[{"version":"v1","resources":[
    {"resource":"pods","singularResource":"pod","shortNames":["po"],"categories":["all"],
     "responseKind":{"kind":"Pod"},"scope":"Namespaced","verbs":["get","list","delete"]},
    {"resource":"services","singularResource":"service","shortNames":["svc"],"categories":["all"],
     "responseKind":{"kind":"Service"},"scope":"Namespaced","verbs":["get"]},
    {"resource":"nodes","singularResource":"node","responseKind":{"kind":"Node"},
     "scope":"Cluster","verbs":["get"]},
    {"resource":"events","singularResource":"event","responseKind":{"kind":"Event"},
     "scope":"Namespaced"}]}]}]})";
constexpr const char* kGroups = R"({"kind":"APIGroupDiscoveryList","items":[
  {"metadata":{"name":"events.k8s.io"},"versions":[{"version":"v1","resources":[
    {"resource":"events","singularResource":"event","responseKind":{"kind":"Event"},
     "scope":"Namespaced"}]}]},
  {"metadata":{"name":"example.com"},"versions":[
    {"version":"v2","resources":[{"resource":"jobs","singularResource":"job",
      "responseKind":{"kind":"Job"},"scope":"Namespaced","categories":["all"]}]},
    {"version":"v1","resources":[{"resource":"jobs","singularResource":"job",
      "responseKind":{"kind":"Job"},"scope":"Namespaced","categories":["all"]}]}]}]})";

ResourceCatalog catalog() {
    std::vector<ApiResource> resources;
    EXPECT_TRUE(add_aggregated(json::parse(kCore), resources));
    EXPECT_TRUE(add_aggregated(json::parse(kGroups), resources));
    return ResourceCatalog(std::move(resources));
}

TEST(ResourceCatalog, AWordMeansTheFirstKindThatIsCalledSo) {
    const ResourceCatalog all = catalog();
    const std::pair<const char*, const char*> kRows[] = {
        {"pods", "v1 pods"},
        {"pod", "v1 pods"},
        {"Pod", "v1 pods"},
        {"po", "v1 pods"},
        {"pods.v1.", "v1 pods"},
        {"nodes", "v1 nodes"},
        {"events", "v1 events"},
        {"events.events.k8s.io", "events.k8s.io/v1 events"},
        {"job", "example.com/v2 jobs"},
        {"jobs.example.com", "example.com/v2 jobs"},
        {"jobs.v1.example.com", "example.com/v1 jobs"},
    };
    for (const auto& [word, type] : kRows) {
        const auto found = all.find(word);
        ASSERT_TRUE(found) << word << ": " << found.error().message();
        ASSERT_EQ(found->size(), 1u) << word;
        EXPECT_EQ(found->front()->type.api_version() + " " + found->front()->type.plural, type)
            << word;
    }
}

TEST(ResourceCatalog, ACategoryMeansOneVersionOfEachOfItsKinds) {
    const ResourceCatalog all = catalog();
    const auto found = all.find("all");
    ASSERT_TRUE(found) << found.error().message();
    std::vector<std::string> names;
    for (const ApiResource* resource : *found) names.push_back(resource->type.plural);
    EXPECT_THAT(names, ElementsAre("pods", "services", "jobs"));
}

TEST(ResourceCatalog, AnUnknownWordGetsTheNearest) {
    const ResourceCatalog all = catalog();
    for (const auto& [word, told] :
         {std::pair("podz", "did you mean pod?"), std::pair("jobs.v3.example.com", "has no kind"),
          std::pair("", "has no kind")}) {
        const auto found = all.find(word);
        ASSERT_FALSE(found) << word;
        EXPECT_THAT(found.error().message(), HasSubstr(told)) << word;
    }
}

TEST(ResourceCatalog, FindsWhatAManifestNames) {
    const ResourceCatalog all = catalog();
    EXPECT_EQ(all.find_kind("example.com/v1", "Job")->type.plural, "jobs");
    EXPECT_EQ(all.find_kind("v1", "Node")->type.namespaced, false);
    EXPECT_EQ(all.find_kind("example.com/v3", "Job"), nullptr);
}

TEST(ResourceCatalog, OlderServersListEachGroup) {
    std::vector<ApiResource> resources;
    EXPECT_FALSE(add_aggregated(json::parse(R"({"kind":"APIVersions"})"), resources));
    EXPECT_THAT(group_versions(json::parse(R"({"kind":"APIGroupList","groups":[
                    {"preferredVersion":{"groupVersion":"apps/v1"}},{}]})")),
                ElementsAre("apps/v1"));
    add_resource_list(json::parse(R"({"groupVersion":"apps/v1","resources":[
        {"name":"deployments","singularName":"deployment","kind":"Deployment","namespaced":true,
         "shortNames":["deploy"],"verbs":["get"]},
        {"name":"deployments/scale","kind":"Scale"}]})"),
                      resources);
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_EQ(resources[0].type.api_version(), "apps/v1");
    EXPECT_EQ(resources[0].qualified_singular(), "deployment.apps");
    EXPECT_TRUE(resources[0].can("get"));
    EXPECT_FALSE(resources[0].can("delete"));
}

std::string targets_of(const std::vector<std::string>& words) {
    const ResourceCatalog all = catalog();
    const auto targets = parse_object_words(words, all);
    if (!targets) return targets.error().message();
    std::string text;
    for (const Target& target : *targets) {
        text += target.resource->type.plural + "(";
        for (const std::string& name : target.names) text += name + " ";
        text += ")";
    }
    return text;
}

TEST(ObjectWords, KindsAndNames) {
    struct Row {
        std::vector<std::string> words;
        const char* targets;
    };
    const Row kRows[] = {
        {{"pods"}, "pods()"},
        {{"po,svc"}, "pods()services()"},
        {{"pods", "a", "b"}, "pods(a b )"},
        {{"pods,services", "a"}, "pods(a )services(a )"},
        {{"pod/a"}, "pods(a )"},
        {{"pod/a", "po/b", "job/c", "pod/d"}, "pods(a b )jobs(c )pods(d )"},
        {{"all,pods"}, "pods()services()jobs()"},
    };
    for (const Row& row : kRows) EXPECT_EQ(targets_of(row.words), row.targets);
}

TEST(ObjectWords, WhatIsWrongSaysWhatIsWanted) {
    struct Row {
        std::vector<std::string> words;
        const char* told;
    };
    const Row kRows[] = {
        {{}, "nothing is named"},
        {{"pod/a/b"}, "\"pod/a/b\" is not of the form"},
        {{"pod/"}, "\"pod/\" is not of the form"},
        {{"pod/a", "b"}, "\"pod/a\" can't stand beside"},
        {{"pods", "pod/a"}, "\"pod/a\" can't stand beside"},
        {{"all", "a"}, "\"all\" means several kinds"},
        {{"all/a"}, "\"all\" means several kinds"},
        {{"pods,podz"}, "has no kind \"podz\""},
    };
    for (const Row& row : kRows) EXPECT_THAT(targets_of(row.words), HasSubstr(row.told));
}

}  // namespace
}  // namespace muster::cli::api_resources_test
