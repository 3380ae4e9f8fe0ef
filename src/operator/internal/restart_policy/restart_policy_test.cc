#include "operator/internal/restart_policy/restart_policy.h"

#include <gtest/gtest.h>

namespace muster::operators::restart_policy_test {
namespace {

using enum PodEnd;
using enum RestartPolicy;

TEST(RestartPolicy, TestIsRetryableExitCode) {
    for (int code : {0, 1, 2, 3, 127}) EXPECT_FALSE(is_retryable(code)) << code;
    for (int code : {128, 130, 137, 138, 143, 255}) EXPECT_TRUE(is_retryable(code)) << code;
    EXPECT_TRUE(is_retryable(std::nullopt)) << "an evicted pod has no exit code";
}

// The table at the end of the operator's README.
TEST(RestartPolicy, SaysWhichPodIsFollowedByAnother) {
    const Consequence lost{.lost = true};
    const Consequence replaced{.counts = true};
    const struct {
        PodEnd end;
        std::optional<std::int32_t> exit_code;
        Consequence always, on_failure, exit_code_policy, never;
    } rows[] = {
        {kFailed, 1, replaced, replaced, lost, lost},
        {kFailed, 127, replaced, replaced, lost, lost},
        {kFailed, 128, replaced, replaced, replaced, lost},
        {kFailed, std::nullopt, replaced, replaced, replaced, lost},
        {kFailedAndGone, 1, replaced, replaced, lost, lost},
        {kFailedAndGone, 137, replaced, replaced, replaced, lost},
        {kStopped, std::nullopt, replaced, replaced, replaced, replaced},
        {kStopped, 1, replaced, replaced, replaced, replaced},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(static_cast<int>(row.end));
        const auto of = [&](RestartPolicy policy) {
            return consequence_of(row.end, row.exit_code, {.policy = policy});
        };
        EXPECT_EQ(of(kAlways), row.always);
        EXPECT_EQ(of(kOnFailure), row.on_failure);
        EXPECT_EQ(of(kExitCode), row.exit_code_policy);
        EXPECT_EQ(of(kNever), row.never);
    }
}

TEST(RestartPolicy, AReplicaThatIsExhaustedIsLostWithItsNextFailureAlone) {
    for (const RestartPolicy policy : {kAlways, kOnFailure, kExitCode}) {
        const RestartRules rules{.policy = policy, .exhausted = true};
        EXPECT_EQ(consequence_of(kFailed, 137, rules), (Consequence{.lost = true}));
        EXPECT_EQ(consequence_of(kStopped, 137, rules), (Consequence{.counts = true}));
    }
}

TEST(RestartPolicy, AGroupRestartsForEachFailureThatIsNotFinal) {
    for (const PodEnd end : {kFailed, kFailedAndGone, kStopped}) {
        const Consequence all =
            consequence_of(end, 1, {.policy = kOnFailure, .restarts_all = true});
        EXPECT_EQ(all, (Consequence{.restarts_all = true})) << static_cast<int>(end);
    }
    EXPECT_EQ(consequence_of(kFailed, 1, {.policy = kNever, .restarts_all = true}),
              (Consequence{.lost = true}));
}

TEST(RestartPolicy, WhatGoesBecauseOfAPauseOrAnOlderGenerationDoesNotCount) {
    for (const PodEnd end : {kFailedAndGone, kStopped})
        for (const bool restarts_all : {false, true}) {
            EXPECT_EQ(
                consequence_of(end, 137,
                               {.policy = kAlways, .restarts_all = restarts_all, .paused = true}),
                Consequence{});
            EXPECT_EQ(
                consequence_of(end, 137,
                               {.policy = kAlways, .restarts_all = restarts_all, .current = false}),
                Consequence{});
        }
    EXPECT_EQ(consequence_of(kFailed, 137, {.policy = kAlways, .paused = true}), Consequence{});
    // A failure that is still there restarts its group whenever it was.
    for (const RestartRules& rules :
         {RestartRules{.policy = kAlways, .restarts_all = true, .paused = true},
          RestartRules{.policy = kAlways, .restarts_all = true, .current = false}})
        EXPECT_EQ(consequence_of(kFailed, 137, rules), (Consequence{.restarts_all = true}));
}

}  // namespace
}  // namespace muster::operators::restart_policy_test
