#include "operator/internal/planning/states.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/test_inputs.h"
#include "kube/values/time.h"
#include "operator/internal/job_fixture.h"
#include "operator/internal/planning/conditions.h"

namespace muster::operators::states_test {
namespace {

using enum JobState;

TEST(States, TheDocumentIsWhatTheTableSays) {
    std::ifstream file(source_path("docs/states.md"));
    ASSERT_TRUE(file) << "docs/states.md is missing: ./dev docs writes it";
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), states_document()) << "out of date: ./dev docs writes it anew";
}

TEST(States, NothingFollowsAnEndAndNothingBecomesNew) {
    for (JobState state :
         {kNew, kCreated, kRunning, kRestarting, kSuspended, kSucceeded, kFailed}) {
        EXPECT_EQ(may_follow(kSucceeded, state), state == kSucceeded);
        EXPECT_EQ(may_follow(kFailed, state), state == kFailed);
        EXPECT_EQ(may_follow(state, kNew), state == kNew);
        EXPECT_TRUE(may_follow(kNew, state)) << "pods may be older than the status";
    }
    EXPECT_FALSE(may_follow(kRunning, kCreated));
    EXPECT_FALSE(may_follow(kSuspended, kRunning));
    EXPECT_TRUE(may_follow(kSuspended, kCreated));
}

// Every state can be reached, and from every one that is not final the job can end.
TEST(States, TheTableHasNoDeadEnds) {
    for (JobState state : {kCreated, kRunning, kRestarting, kSuspended, kSucceeded, kFailed}) {
        bool reached = false;
        bool left = state == kSucceeded || state == kFailed;
        for (const Transition& transition : transitions()) {
            reached |= transition.to == state;
            left |= transition.from == state;
        }
        EXPECT_TRUE(reached) << name_of(state);
        EXPECT_TRUE(left) << name_of(state);
    }
}

TEST(States, AreReadFromTheConditions) {
    jobs::JobStatus status;
    const auto now_is = [&](JobState expected, std::string_view type, bool value = true) {
        set_condition(status, {.type = type, .status = value, .reason = "R", .message = "m"}, kNow);
        EXPECT_EQ(name_of(state_of(status)), name_of(expected));
    };
    EXPECT_EQ(state_of(status), kNew);
    now_is(kCreated, conditions::kCreated);
    now_is(kRunning, conditions::kRunning);
    now_is(kRestarting, conditions::kRestarting);
    now_is(kSuspended, conditions::kSuspended);
    now_is(kRestarting, conditions::kSuspended, false);
    now_is(kFailed, conditions::kFailed);
}

// Else the job would be Restarting while it has no pods, and when it resumes.
TEST(States, ASuspendedJobIsNotRestarting) {
    const jobs::Job job = make_job({});
    jobs::JobStatus status = status_after(
        job, make_dependents(
                 {{.type = "Master"}, {.index = 0}, {.index = 1, .phase = PodPhase::kFailed}}));
    ASSERT_EQ(state_of(status), kRestarting);
    status = status_after(make_job({.suspend = true}), {}, status);
    EXPECT_FALSE(status.is(conditions::kRestarting));
    EXPECT_EQ(state_of(status), kSuspended);
    EXPECT_EQ(state_of(status_after(job, {}, status)), kCreated);
}

}  // namespace
}  // namespace muster::operators::states_test
