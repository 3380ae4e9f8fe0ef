#include "operator/internal/planning/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/values/time.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::conditions_test {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

constexpr WallTime kStart{std::chrono::seconds(1'700'000'000)};

bool set(jobs::JobStatus& status, std::string_view type, bool value = true,
         std::string reason = "r", std::string message = "m", WallTime now = kStart) {
    return set_condition(status, {type, value, std::move(reason), std::move(message)}, now);
}

struct Row {
    std::string name;
    std::vector<std::string> given;
    std::vector<std::string> expected;
};

class TestUpdateJobConditions : public ::testing::TestWithParam<Row> {};

// Rows: training-operator pkg/util/status_test.go, and the order in which they are applied there.
TEST_P(TestUpdateJobConditions, Sequence) {
    jobs::JobStatus status;
    for (const std::string& type : GetParam().given) set(status, type);
    EXPECT_EQ(summary(status), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, TestUpdateJobConditions,
    ::testing::Values(
        Row{"Created", {"Created"}, {"Created"}},
        Row{"Running", {"Created", "Running"}, {"Created", "Running"}},
        Row{"RestartingReplacesRunning",
            {"Created", "Running", "Restarting"},
            {"Created", "Restarting"}},
        Row{"RunningReplacesRestarting",
            {"Created", "Running", "Restarting", "Running"},
            {"Created", "Running"}},
        Row{"FailedTurnsRunningFalse",
            {"Created", "Running", "Failed"},
            {"Created", "Running=False", "Failed"}},
        Row{"SucceededTurnsRunningFalse",
            {"Created", "Running", "Succeeded"},
            {"Created", "Running=False", "Succeeded"}},
        Row{"NothingAfterFailed",
            {"Created", "Failed", "Running", "Succeeded"},
            {"Created", "Failed"}},
        // Upstream lets both be true (issue 1711): a terminal state never changes here.
        Row{"NothingAfterSucceeded",
            {"Created", "Succeeded", "Failed", "Restarting"},
            {"Created", "Succeeded"}}),
    [](const auto& info) { return info.param.name; });

TEST(Conditions, EqualReasonIsNoChangeWhateverTheMessage) {
    jobs::JobStatus status;
    EXPECT_TRUE(set(status, "Running", true, "why", "first"));
    EXPECT_FALSE(set(status, "Running", true, "why", "second", kStart + 5s));
    EXPECT_EQ(status.conditions[0].message, "first");
    EXPECT_EQ(status.conditions[0].last_update_time, kube::format_time(kStart));
}

TEST(Conditions, BlockedSaysWhatIsInTheWayNow) {
    jobs::JobStatus status;
    EXPECT_TRUE(set(status, "Blocked", true, "r", "first"));
    EXPECT_FALSE(set(status, "Blocked", true, "r", "first", kStart + 1s));
    EXPECT_TRUE(set(status, "Blocked", true, "r", "second", kStart + 2s));
    EXPECT_EQ(status.conditions.back().message, "second");
    EXPECT_EQ(status.conditions.back().last_transition_time, kube::format_time(kStart));
}

TEST(Conditions, ANewReasonMovesToTheEndAndKeepsTheTransitionTime) {
    jobs::JobStatus status;
    set(status, "Suspended", true, "a");
    set(status, "Created");
    EXPECT_TRUE(set(status, "Suspended", true, "b", "m", kStart + 5s));
    EXPECT_THAT(summary(status), ElementsAre("Created", "Suspended"));
    EXPECT_EQ(status.conditions[1].last_transition_time, kube::format_time(kStart));
    EXPECT_EQ(status.conditions[1].last_update_time, kube::format_time(kStart + 5s));
}

TEST(Conditions, ANewStatusIsATransition) {
    jobs::JobStatus status;
    set(status, "Suspended", true, "a");
    EXPECT_TRUE(set(status, "Suspended", false, "a", "m", kStart + 5s));
    EXPECT_EQ(status.conditions[0].last_transition_time, kube::format_time(kStart + 5s));
}

// Upstream: "adding Running, of any status, removes Restarting".
TEST(Conditions, RunningFalseRemovesRestarting) {
    jobs::JobStatus status;
    set(status, "Restarting");
    set(status, "Running", false);
    EXPECT_THAT(summary(status), ElementsAre("Running=False"));
}

TEST(Conditions, TheFlipOfRunningKeepsItsTimesAndReason) {
    jobs::JobStatus status;
    set(status, "Running", true, "PyTorchJobRunning");
    set(status, "Failed", true, "PyTorchJobFailed", "m", kStart + 9s);
    EXPECT_EQ(status.conditions[0].reason, "PyTorchJobRunning");
    EXPECT_EQ(status.conditions[0].last_transition_time, kube::format_time(kStart));
}

}  // namespace
}  // namespace muster::operators::conditions_test
