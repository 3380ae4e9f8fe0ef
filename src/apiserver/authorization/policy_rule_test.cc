#include "apiserver/authorization/policy_rule.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::apiserver::policy_rule_test {
namespace {

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
}  // namespace muster::apiserver::policy_rule_test
