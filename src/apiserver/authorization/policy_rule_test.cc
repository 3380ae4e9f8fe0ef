#include "apiserver/authorization/policy_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::apiserver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// "get pods/log in a" -> an action on the resource of the core group; "get /x" on a path.
Action action(std::string_view verb, std::string_view group, std::string_view resource,
              std::string_view subresource = "", std::string_view name = "") {
    Action made;
    made.verb = verb;
    made.group = group;
    made.resource = resource;
    made.subresource = subresource;
    made.name = name;
    return made;
}

bool allows(const char* rule, const Action& action) {
    return rule_allows(json::parse(rule).as_object(), action);
}

TEST(PolicyRule, Verbs) {
    constexpr const char* kGet =
        R"({"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]})";
    EXPECT_TRUE(allows(kGet, action("get", "", "pods")));
    EXPECT_FALSE(allows(kGet, action("create", "", "pods")));
    EXPECT_TRUE(allows(R"({"verbs":["*"],"apiGroups":[""],"resources":["pods"]})",
                       action("impersonate", "", "pods")));
    EXPECT_FALSE(allows(R"({"apiGroups":[""],"resources":["pods"]})", action("get", "", "pods")));
}

TEST(PolicyRule, Groups) {
    constexpr const char* kApps = R"({"verbs":["get"],"apiGroups":["apps"],"resources":["*"]})";
    EXPECT_TRUE(allows(kApps, action("get", "apps", "deployments")));
    EXPECT_FALSE(allows(kApps, action("get", "", "pods")));
    constexpr const char* kAny = R"({"verbs":["get"],"apiGroups":["*"],"resources":["pods"]})";
    EXPECT_TRUE(allows(kAny, action("get", "", "pods")));
    EXPECT_TRUE(allows(kAny, action("get", "metrics.k8s.io", "pods")));
    EXPECT_FALSE(allows(R"({"verbs":["get"],"resources":["pods"]})", action("get", "", "pods")));
}

TEST(PolicyRule, ResourcesAndSubresources) {
    struct Row {
        const char* granted;
        const char* resource;
        const char* subresource;
        bool allowed;
    };
    constexpr Row kRows[] = {
        {"*", "pods", "", true},
        {"*", "pods", "log", true},
        {"pods", "pods", "", true},
        {"pods", "pods", "log", false},
        {"pods", "podsecurity", "", false},
        {"podsecurity", "pods", "", false},
        {"pods/log", "pods", "log", true},
        {"pods/log", "pods", "", false},
        {"pods/log", "pods", "lo", false},
        {"pods/*", "pods", "log", false},
        {"*/scale", "jobs", "scale", true},
        {"*/scale", "jobs", "", false},
        {"*/scale", "jobs", "status", false},
        {"*/", "jobs", "", false},
        {"", "pods", "", false},
    };
    for (const Row& row : kRows) {
        const json::object rule{{"verbs", json::array{"get"}},
                                {"apiGroups", json::array{""}},
                                {"resources", json::array{row.granted}}};
        EXPECT_EQ(rule_allows(rule, action("get", "", row.resource, row.subresource)), row.allowed)
            << row.granted << " for " << row.resource << "/" << row.subresource;
    }
}

TEST(PolicyRule, NamesOfObjects) {
    constexpr const char* kNamed =
        R"({"verbs":["*"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a","b"]})";
    EXPECT_TRUE(allows(kNamed, action("get", "", "pods", "", "b")));
    EXPECT_FALSE(allows(kNamed, action("get", "", "pods", "", "c")));
    // What has no name yet, or is many, can't be meant.
    EXPECT_FALSE(allows(kNamed, action("create", "", "pods")));
    EXPECT_FALSE(allows(kNamed, action("list", "", "pods")));
    EXPECT_TRUE(
        allows(R"({"verbs":["*"],"apiGroups":[""],"resources":["pods"],"resourceNames":[]})",
               action("list", "", "pods")));
}

TEST(PolicyRule, Paths) {
    struct Row {
        const char* granted;
        const char* path;
        bool allowed;
    };
    constexpr Row kRows[] = {
        {"/version", "/version", true},  {"/version", "/version/a", false},
        {"/apis/*", "/apis/apps", true}, {"/apis/*", "/apis", false},
        {"/apis*", "/apis", true},       {"*", "/anything", true},
        {"/a*b", "/axb", false},         {"/a**", "/ab", true},
    };
    for (const Row& row : kRows) {
        const json::object rule{{"verbs", json::array{"get"}},
                                {"nonResourceURLs", json::array{row.granted}}};
        Action get{.verb = "get"};
        get.path = row.path;
        EXPECT_EQ(rule_allows(rule, get), row.allowed) << row.granted << " for " << row.path;
        EXPECT_FALSE(rule_allows(rule, action("get", "", "pods"))) << "a path is not a resource";
    }
    Action path{.verb = "get"};
    path.path = "/apis";
    EXPECT_FALSE(allows(R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})", path));
}

/// One rule a line: verbs, groups, resources, names or "-"; or verbs and paths.
PolicyRules rules(std::initializer_list<PolicyRule> list) { return list; }

PolicyRule on(std::vector<std::string> verbs, std::vector<std::string> groups,
              std::vector<std::string> resources, std::vector<std::string> names = {}) {
    return {std::move(verbs), std::move(groups), std::move(resources), std::move(names), {}};
}
PolicyRule on_paths(std::vector<std::string> verbs, std::vector<std::string> urls) {
    return {std::move(verbs), {}, {}, {}, std::move(urls)};
}

std::vector<std::string> missing(const PolicyRules& held, const PolicyRules& wanted) {
    std::vector<std::string> texts;
    for (const PolicyRule& rule : missing_rules(held, wanted)) texts.push_back(describe(rule));
    return texts;
}

TEST(MissingRules, ASingleExactRuleMatches) {
    EXPECT_THAT(missing(rules({on({"delete", "update"}, {"v1"}, {"builds"})}),
                        rules({on({"delete", "update"}, {"v1"}, {"builds"})})),
                IsEmpty());
}

TEST(MissingRules, MultipleRulesCoverASingleOne) {
    const PolicyRules held{on({"delete"}, {"v1"}, {"deployments"}),
                           on({"delete"}, {"v1"}, {"builds"}),
                           on({"update"}, {"v1"}, {"builds", "deployments"})};
    EXPECT_THAT(missing(held, rules({on({"delete", "update"}, {"v1"}, {"builds", "deployments"})})),
                IsEmpty());
    EXPECT_THAT(missing(held, rules({on({"list", "update"}, {"v1"}, {"builds"})})),
                ElementsAre(R"({APIGroups:["v1"], Resources:["builds"], Verbs:["list"]})"));
}

TEST(MissingRules, MultipleRulesMissingASingleVerbResourceCombination) {
    const PolicyRules held{on({"delete", "update"}, {"v1"}, {"builds", "deployments"}),
                           on({"delete"}, {"v1"}, {"pods"})};
    EXPECT_THAT(
        missing(held, rules({on({"delete", "update"}, {"v1"}, {"builds", "deployments", "pods"})})),
        ElementsAre(R"({APIGroups:["v1"], Resources:["pods"], Verbs:["update"]})"));
}

TEST(MissingRules, StarsHoldAllButAreHeldByStarsAlone) {
    EXPECT_THAT(missing(rules({on({"*"}, {"*"}, {"*"})}), rules({on({"get"}, {"a"}, {"b/c"})})),
                IsEmpty());
    EXPECT_THAT(missing(rules({on({"get"}, {"v1"}, {"*"})}), rules({on({"*"}, {"v1"}, {"*"})})),
                ElementsAre(R"({APIGroups:["v1"], Resources:["*"], Verbs:["*"]})"));
    EXPECT_THAT(missing(rules({on({"*"}, {"a"}, {"*"})}), rules({on({"get"}, {"*"}, {"b"})})),
                ElementsAre(R"({APIGroups:["*"], Resources:["b"], Verbs:["get"]})"));
}

TEST(MissingRules, SubresourcesOfAnything) {
    const PolicyRules held{on({"*"}, {"*"}, {"*/scale", "jobs"})};
    EXPECT_THAT(missing(held, rules({on({"get"}, {""}, {"pods/scale", "*/scale", "jobs"})})),
                IsEmpty());
    EXPECT_THAT(missing(held, rules({on({"get"}, {""}, {"jobs/status"})})), testing::SizeIs(1));
}

TEST(MissingRules, ResourceNames) {
    const PolicyRule all = on({"get"}, {""}, {"pods"});
    const PolicyRule some = on({"get"}, {""}, {"pods"}, {"a", "b"});
    EXPECT_THAT(missing({all}, {some}), IsEmpty());
    EXPECT_THAT(missing({some}, {on({"get"}, {""}, {"pods"}, {"a"})}), IsEmpty());
    EXPECT_THAT(missing({some}, {all}), testing::SizeIs(1)) << "names never cover everything";
    EXPECT_THAT(
        missing({some}, {on({"get"}, {""}, {"pods"}, {"a", "c"})}),
        ElementsAre(R"({APIGroups:[""], Resources:["pods"], ResourceNames:["c"], Verbs:["get"]})"));
}

TEST(MissingRules, NonResourceUrls) {
    EXPECT_THAT(
        missing({on_paths({"get"}, {"/apis*"})}, {on_paths({"get"}, {"/apis/v1", "/apis*"})}),
        IsEmpty());
    EXPECT_THAT(missing({on_paths({"*"}, {"/apis"})}, {on_paths({"get"}, {"/apis*"})}),
                ElementsAre(R"({NonResourceURLs:["/apis*"], Verbs:["get"]})"));
    EXPECT_THAT(missing({on({"*"}, {"*"}, {"*"})}, {on_paths({"get"}, {"/a"})}), testing::SizeIs(1))
        << "every resource is not a path";
    EXPECT_THAT(missing({on_paths({"*"}, {"*"})}, {on({"get"}, {""}, {"pods"})}),
                testing::SizeIs(1));
}

TEST(MissingRules, WhatGrantsNothingIsMissingNothing) {
    EXPECT_THAT(missing({}, {on({}, {""}, {"pods"})}), IsEmpty());
    EXPECT_THAT(missing({}, {on({"get"}, {}, {"pods"})}), IsEmpty());
}

TEST(Compacted, VerbsOnTheSameBecomeOneRule) {
    const PolicyRules compact =
        compacted({on({"get"}, {""}, {"pods"}), on({"get"}, {""}, {"secrets"}),
                   on({"list"}, {""}, {"pods"}), on({"get"}, {""}, {"pods"})});
    ASSERT_EQ(compact.size(), 2);
    EXPECT_EQ(describe(compact[0]),
              R"({APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]})");
    EXPECT_EQ(describe(compact[1]), R"({APIGroups:[""], Resources:["secrets"], Verbs:["get"]})");
}

TEST(PolicyRule, IsReadAndWritten) {
    const json::value role = json::parse(
        R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},
                     {"verbs":["get"],"nonResourceURLs":["/a"]}]})");
    const PolicyRules read = read_rules(role.as_object());
    ASSERT_EQ(read.size(), 2);
    EXPECT_EQ(write_rule(read[0]), role.at("rules").at(0).as_object());
    EXPECT_EQ(write_rule(read[1]), role.at("rules").at(1).as_object());
    EXPECT_TRUE(read_rules({}).empty());
}

}  // namespace
}  // namespace muster::apiserver
