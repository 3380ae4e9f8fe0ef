#include "apiserver/authorization/rule_coverage.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_growth.h"

namespace muster::apiserver::rule_coverage_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
        << "every resource is no path";
    EXPECT_THAT(missing({on_paths({"*"}, {"*"})}, {on({"get"}, {""}, {"pods"})}),
                testing::SizeIs(1));
}

TEST(MissingRules, WhatGrantsNothingIsMissingNothing) {
    EXPECT_THAT(missing({}, {on({}, {""}, {"pods"})}), IsEmpty());
    EXPECT_THAT(missing({}, {on({"get"}, {}, {"pods"})}), IsEmpty());
}

std::vector<std::string> numbered(std::string_view prefix, int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) texts.push_back(fmt::format("{}{}", prefix, i));
    return texts;
}

TEST(MissingRules, OfAMillionCombinationsTheFirstAreNamed) {
    const PolicyRule wide = on(numbered("v", 100), numbered("g", 100), numbered("r", 100));
    const PolicyRules missing = missing_rules({}, {wide});
    EXPECT_EQ(missing.size(), kMostMissing);
    EXPECT_EQ(compacted(missing).size(), 10) << "a hundred verbs each";
    EXPECT_THAT(missing_rules({on({"*"}, {"*"}, {"*"})}, {wide}), IsEmpty());
    EXPECT_THAT(missing_rules({wide}, {wide}), IsEmpty());
}

TEST(MissingRules, CombinationsThatCantBeLookedAtOneByOneAreMissingTogether) {
    const PolicyRule wide = on(numbered("v", 1000), numbered("g", 1000), numbered("r", 1000));
    // Together they cover it, but nobody counts to a thousand million to see that.
    const std::vector<std::string> verbs = numbered("v", 1000);
    const PolicyRules halves{on({verbs.begin(), verbs.begin() + 500}, {"*"}, {"*"}),
                             on({verbs.begin() + 500, verbs.end()}, {"*"}, {"*"})};
    EXPECT_THAT(missing_rules(halves, {wide}), ElementsAre(wide));
    EXPECT_LT(describe(wide).size(), 10'000u);
    const PolicyRule less = on(numbered("v", 1000), numbered("g", 10), numbered("r", 10));
    EXPECT_THAT(missing_rules(halves, {less}), IsEmpty());
}

TEST(MissingRules, CostGrowsWithTheRules) {
    EXPECT_LE(growth_by_ten(300,
                            [](std::size_t size) {
                                PolicyRules held;
                                PolicyRules wanted;
                                for (std::size_t i = 0; i < size; ++i) {
                                    const std::string name = std::to_string(i);
                                    held.push_back(on({"get", "list"}, {"g" + name}, {"r" + name}));
                                    wanted.push_back(on({"get"}, {"g" + name}, {"r" + name}));
                                }
                                EXPECT_THAT(missing_rules(held, wanted), IsEmpty());
                            }),
              kLinearGrowth);
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

}  // namespace
}  // namespace muster::apiserver::rule_coverage_test
