#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "jobs/kind.h"

// What the rules judge is asked of a real server by tests/conformance/test_install.py; here, which
// rules there are.

namespace muster::jobs::admission_rules_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<AdmissionRule> rules_of(std::string_view plural) {
    for (const auto& versions : kinds_by_resource(all_kinds()))
        if (versions.front()->resource.plural == plural) return admission_rules(versions);
    ADD_FAILURE() << "there is no resource " << plural;
    return {};
}

auto rule(std::string_view expression, std::string_view message) {
    return AllOf(
        Field("expression", &AdmissionRule::expression, HasSubstr(std::string(expression))),
        Field("message", &AdmissionRule::message, HasSubstr(std::string(message))));
}

TEST(AdmissionRules, FollowFromTheDataOfAKind) {
    const std::vector<AdmissionRule> rules = rules_of("pytorchjobs");
    EXPECT_THAT(rules,
                Contains(rule("t.lowerAscii() in ['master', 'worker']", "is not a replica type")));
    EXPECT_THAT(rules, Contains(rule("?replicas.orValue(1) == 1", "Master.replicas: must be 1")));
    EXPECT_THAT(rules, Contains(rule("['', 'pytorch']", "a container that is named \"pytorch\"")));
    // "-worker-" and the digits of the last index; "-master-0" whole.
    EXPECT_THAT(rules,
                Contains(rule("size(object.metadata.name) + 8 + size(string(", "Worker pod")));
    EXPECT_THAT(rules, Contains(rule("size(object.metadata.name) + 9 <= 63", "Master pod")));
    EXPECT_THAT(rules_of("xgboostjobs"), Contains(rule("'master'", "needs this replica type")));
}

TEST(AdmissionRules, OfAKindItselfComeBesideThem) {
    EXPECT_THAT(rules_of("tfjobs"), Contains(rule("'chief'", "two names of one role")));
    EXPECT_THAT(rules_of("paddlejobs"), Contains(rule("minReplicas", "must not be above")));
    EXPECT_THAT(rules_of("jaxjobs"), Not(Contains(rule("elasticPolicy", ""))));
}

TEST(AdmissionRules, OfOneVersionHoldForJobsThatAreWrittenInIt) {
    const std::vector<AdmissionRule> rules = rules_of("mpijobs");
    EXPECT_THAT(rules,
                Contains(rule("object.spec.?dialect.orValue('') != 'v2beta1' || ", "at least 1")));
    EXPECT_THAT(rules, Contains(rule("object.spec.?dialect.orValue('') != 'v1' || ", "kubexec")));
    // What all versions say is said once, and of all.
    const auto about_names = std::ranges::count_if(rules, [](const AdmissionRule& each) {
        return each.message.starts_with("metadata.name: it may have");
    });
    EXPECT_EQ(about_names, 1);
    EXPECT_THAT(rules, Contains(rule("size(object.metadata.name) + 9 <= 63", "Launcher pod")));
}

TEST(AdmissionRules, NameTheFieldAndAreNotRepeated) {
    for (const auto& versions : kinds_by_resource(all_kinds())) {
        std::vector<std::string> expressions;
        for (const AdmissionRule& each : admission_rules(versions)) {
            EXPECT_THAT(each.message, testing::MatchesRegex("(metadata|spec)\\..*: .*"));
            EXPECT_THAT(each.expression, Not(IsEmpty()));
            expressions.push_back(each.expression);
        }
        std::ranges::sort(expressions);
        EXPECT_EQ(std::ranges::adjacent_find(expressions), expressions.end());
    }
}

}  // namespace
}  // namespace muster::jobs::admission_rules_test
