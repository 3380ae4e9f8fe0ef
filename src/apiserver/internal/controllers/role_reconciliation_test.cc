#include "apiserver/internal/controllers/role_reconciliation.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "apiserver/authorization/rule_coverage.h"
#include "apiserver/internal/controllers/default_roles.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/resources/access_types.h"

namespace muster::apiserver::role_reconciliation_test {
namespace {

json::object object(std::string_view text) { return json::parse(std::string(text)).as_object(); }

constexpr const char* kExpected = R"({"metadata":{"name":"r","labels":{"l":"1"}},
    "rules":[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]})";

TEST(Reconcile, WhatIsAsItShouldBeIsKept) {
    EXPECT_EQ(reconcile(object(kExpected), object(kExpected)).kind, Reconciled::Kind::kKeep);
    const json::object wider = object(R"({"metadata":{"name":"r","labels":{"l":"1","m":"2"}},
        "rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})");
    EXPECT_EQ(reconcile(wider, object(kExpected)).kind, Reconciled::Kind::kKeep);
}

TEST(Reconcile, WhatIsMissingComesBackAndWhatWasAddedStays) {
    const Reconciled mended = reconcile(object(R"({"metadata":{"name":"r","labels":{"l":"mine"}},
            "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods","secrets"]}]})"),
                                        object(kExpected));
    ASSERT_EQ(mended.kind, Reconciled::Kind::kUpdate);
    EXPECT_EQ(mended.object.at("rules"),
              json::parse(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods","secrets"]},
                              {"verbs":["list"],"apiGroups":[""],"resources":["pods"]}])"));
    EXPECT_EQ(mended.object.at("metadata").at("labels").at("l"), "mine");
}

TEST(Reconcile, WhoeverSaysSoIsLeftAlone) {
    EXPECT_EQ(reconcile(object(R"({"metadata":{"name":"r","annotations":
        {"rbac.authorization.kubernetes.io/autoupdate":"false"}},"rules":[]})"),
                        object(kExpected))
                  .kind,
              Reconciled::Kind::kKeep);
}

TEST(Reconcile, AggregatedRolesGetTheirSelectorsNotTheirRules) {
    const json::object expected = object(R"({"metadata":{"name":"r"},
        "aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"1"}}]},"rules":[]})");
    const json::object with_rules = object(R"({"metadata":{"name":"r"},
        "aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"b":"1"}},
        {"matchLabels":{"a":"1"}}]},"rules":[{"verbs":["get"]}]})");
    EXPECT_EQ(reconcile(with_rules, expected).kind, Reconciled::Kind::kKeep);
    const Reconciled mended =
        reconcile(object(R"({"metadata":{"name":"r"},"rules":[]})"), expected);
    ASSERT_EQ(mended.kind, Reconciled::Kind::kUpdate);
    EXPECT_EQ(mended.object.at("aggregationRule"), expected.at("aggregationRule"));
}

TEST(Reconcile, Bindings) {
    const json::object expected = object(R"({"metadata":{"name":"b"},
        "roleRef":{"name":"r"},"subjects":[{"kind":"Group","name":"g"}]})");
    const Reconciled mended = reconcile(object(R"({"metadata":{"name":"b"},
        "roleRef":{"name":"r"},"subjects":[{"kind":"User","name":"u"}]})"),
                                        expected);
    ASSERT_EQ(mended.kind, Reconciled::Kind::kUpdate);
    EXPECT_EQ(mended.object.at("subjects"),
              json::parse(R"([{"kind":"User","name":"u"},{"kind":"Group","name":"g"}])"));
    const Reconciled anew = reconcile(object(R"({"metadata":{"name":"b","uid":"1"},
        "roleRef":{"name":"other"},"subjects":[]})"),
                                      expected);
    ASSERT_EQ(anew.kind, Reconciled::Kind::kReplace);
    EXPECT_EQ(anew.object.at("roleRef").at("name"), "r");
    EXPECT_FALSE(anew.object.at("metadata").as_object().contains("uid"));
}

std::string sum_of(std::string_view selectors, std::initializer_list<std::string_view> roles) {
    std::vector<kube::ObjectPtr> all;
    for (const std::string_view role : roles)
        all.push_back(std::make_shared<const json::value>(object(role)));
    const auto rules =
        aggregated_rules(object(fmt::format(R"({{"metadata":{{"name":"sum"}},"aggregationRule":)"
                                            R"({{"clusterRoleSelectors":{}}}}})",
                                            selectors)),
                         all);
    if (!rules) return "none";
    std::string text;
    for (const json::value& rule : *rules)
        text += std::string(rule.at("verbs").at(0).as_string()) + " ";
    return text;
}

TEST(AggregatedRules, AreThoseOfTheChosenRolesEachOnce) {
    constexpr std::string_view kA =
        R"({"metadata":{"name":"a","labels":{"x":"1"}},"rules":[{"verbs":["a"]},{"verbs":["s"]}]})";
    constexpr std::string_view kB =
        R"({"metadata":{"name":"b","labels":{"y":"2"}},"rules":[{"verbs":["s"]},{"verbs":["b"]}]})";
    constexpr std::string_view kSelf =
        R"({"metadata":{"name":"sum","labels":{"x":"1"}},"rules":[{"verbs":["old"]}]})";
    EXPECT_EQ(sum_of(R"([{"matchLabels":{"x":"1"}}])", {kA, kB, kSelf}), "a s ");
    EXPECT_EQ(sum_of(R"([{"matchLabels":{"x":"1"}},{"matchLabels":{"y":"2"}}])", {kA, kB}),
              "a s b ");
    EXPECT_EQ(sum_of(R"([{"matchLabels":{"x":"1","y":"2"}}])", {kA, kB}), "");
    struct Row {
        const char* expression;
        const char* chosen;
    };
    constexpr Row kRows[] = {
        {R"({"key":"x","operator":"In","values":["1","3"]})", "a s "},
        {R"({"key":"x","operator":"NotIn","values":["1"]})", "s b "},
        {R"({"key":"y","operator":"Exists"})", "s b "},
        {R"({"key":"y","operator":"DoesNotExist"})", "a s "},
        {R"({"key":"y","operator":"Perhaps"})", "s b "},
    };
    for (const Row& row : kRows) {
        const std::string sum =
            sum_of(fmt::format(R"([{{"matchExpressions":[{}]}}])", row.expression), {kA, kB});
        if (std::string_view(row.expression).find("Perhaps") != std::string_view::npos)
            EXPECT_EQ(sum, "") << "an operator that nobody knows chooses nothing";
        else
            EXPECT_EQ(sum, row.chosen) << row.expression;
    }
    EXPECT_EQ(aggregated_rules(object(kA), {}), std::nullopt);
}

TEST(DefaultRoles, AreWholeAndNamedOnce) {
    std::set<std::pair<std::string, std::string>> names;
    std::map<std::string, json::object> roles;
    for (const DefaultObject& one : default_access_objects()) {
        const std::string name(name_of(one.object));
        EXPECT_TRUE(names.emplace(one.type->kind, name).second) << name;
        if (one.type == &kRoles) continue;
        if (one.type == &kClusterRoles) {
            roles[name] = one.object;
        } else {
            const std::string role(one.object.at("roleRef").at("name").as_string());
            EXPECT_TRUE(roles.contains(role)) << role << " comes before its binding";
        }
    }
    for (const char* name : {"cluster-admin", "admin", "edit", "view", "system:basic-user",
                             "system:discovery", "system:public-info-viewer"})
        EXPECT_TRUE(roles.contains(name)) << name;
    EXPECT_EQ(write_rule(read_rules(roles["cluster-admin"])[0]),
              object(R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})"));
    EXPECT_EQ(write_rule(read_rules(roles["cluster-admin"])[1]),
              object(R"({"verbs":["*"],"nonResourceURLs":["*"]})"));
}

/// What a role gets in the end, aggregation of aggregated roles included.
PolicyRules in_the_end(std::string_view name) {
    std::vector<kube::ObjectPtr> roles;
    for (int round = 0; round < 4; ++round) {
        std::map<std::string, kube::ObjectPtr> next;
        for (const DefaultObject& one : default_access_objects()) {
            if (one.type != &kClusterRoles) continue;
            json::object role = one.object;
            if (auto rules = aggregated_rules(role, roles)) role["rules"] = *std::move(rules);
            const std::string key(name_of(role));
            next[key] = std::make_shared<const json::value>(std::move(role));
        }
        roles.clear();
        for (auto& [key, role] : next) roles.push_back(role);
    }
    for (const kube::ObjectPtr& role : roles)
        if (name_of(role->get_object()) == name) return read_rules(role->get_object());
    return {};
}

TEST(DefaultRoles, ViewersDoNotSeeSecretsAndEditorsGiveNoRoles) {
    const auto may = [](const char* role, const char* verb, const char* group,
                        const char* resource) {
        const PolicyRules rules = in_the_end(role);
        return missing_rules(rules, {{{verb}, {group}, {resource}, {}, {}}}).empty();
    };
    EXPECT_TRUE(may("view", "list", "", "pods"));
    EXPECT_TRUE(may("view", "get", "", "pods/log"));
    EXPECT_FALSE(may("view", "get", "", "secrets"));
    EXPECT_FALSE(may("view", "create", "", "pods"));
    EXPECT_FALSE(may("view", "create", "", "pods/exec"));
    EXPECT_TRUE(may("edit", "get", "", "pods"));
    EXPECT_TRUE(may("edit", "create", "", "pods/exec"));
    EXPECT_TRUE(may("edit", "get", "", "secrets"));
    EXPECT_FALSE(may("edit", "create", kRbacGroup.data(), "roles"));
    EXPECT_FALSE(may("edit", "create", "", "namespaces"));
    EXPECT_TRUE(may("admin", "create", kRbacGroup.data(), "rolebindings"));
    EXPECT_TRUE(may("admin", "delete", "", "pods"));
    EXPECT_FALSE(may("admin", "create", kRbacGroup.data(), "clusterroles"));
    EXPECT_FALSE(may("admin", "update", "", "nodes"));
    for (const char* role : {"admin", "edit", "view"})
        EXPECT_FALSE(may(role, "escalate", kRbacGroup.data(), "roles")) << role;
}

}  // namespace
}  // namespace muster::apiserver::role_reconciliation_test
