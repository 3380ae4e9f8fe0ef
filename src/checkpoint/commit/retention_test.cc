#include "checkpoint/commit/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::checkpoint::retention_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAreArray;

constexpr std::int64_t kNow = 1'700'000'000'000;

/// Of steps 100 to 600, one made each minute, the last one now.
Catalog six() {
    Catalog catalog{.unusable = {{.directory = "50", .why = "damaged"}}, .others = {"runs"}};
    for (std::int64_t step = 600; step >= 100; step -= 100)
        catalog.checkpoints.push_back(
            {.directory = std::to_string(step),
             .manifest = {.facts = {.step = static_cast<std::uint64_t>(step)},
                          .made_unix_ms = kNow - (600 - step) * 600}});
    return catalog;
}

struct Case {
    const char* name;
    Retention rule;
    std::set<std::string> in_use;
    std::vector<std::string> expired;
};

class RetentionRules : public ::testing::TestWithParam<Case> {};

TEST_P(RetentionRules, SayWhatGoes) {
    EXPECT_THAT(expired(six(), GetParam().rule, kNow, GetParam().in_use),
                ElementsAreArray(GetParam().expired));
}

INSTANTIATE_TEST_SUITE_P(
    All, RetentionRules,
    ::testing::Values(
        Case{"none", {}, {}, {}}, Case{"last_two", {.last = 2}, {}, {"100", "200", "300", "400"}},
        Case{"never_the_newest", {.last = 0}, {}, {"100", "200", "300", "400", "500"}},
        Case{"more_than_there_are", {.last = 60}, {}, {}},
        Case{"each_300_steps", {.every_steps = 300}, {}, {"100", "200", "400", "500"}},
        Case{"no_multiples", {.every_steps = 0}, {}, {"100", "200", "300", "400", "500"}},
        Case{"last_two_and_each_300", {.last = 2, .every_steps = 300}, {}, {"100", "200", "400"}},
        Case{"of_three_minutes", {.younger_than = 180s}, {}, {"100", "200", "300"}},
        Case{"in_use", {.last = 1}, {"200", "400"}, {"100", "300", "500"}}),
    [](const auto& one) { return one.param.name; });

TEST(Retention, WhereNothingIsNothingGoes) {
    EXPECT_TRUE(expired({}, {.last = 1}, kNow, {}).empty());
}

TEST(Retention, WhatWasMadeInTheFutureIsYoung) {
    Catalog catalog = six();
    catalog.checkpoints.back().manifest.made_unix_ms = kNow + 1'000'000;
    EXPECT_THAT(expired(catalog, {.younger_than = 1s}, kNow, {}),
                ElementsAreArray({"200", "300", "400", "500"}));
}

}  // namespace
}  // namespace muster::checkpoint::retention_test
