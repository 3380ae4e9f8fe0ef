#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/values/time.h"
#include "operator/internal/job_fixture.h"
#include "operator/internal/planning/limits.h"
#include "operator/internal/planning/planner.h"

namespace muster::operators::planner_limits_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

const std::string kCompleted = "PyTorchJob demo is successfully completed.";
const std::string kLost = "PyTorchJob demo is failed because 1 Worker replica(s) failed.";

struct RankRow {
    std::string name;
    JobSketch job;
    std::vector<PodSketch> pods;
    WallTime now = kNow;
    std::string message;  ///< of the last condition
};
class SeveralReasonsAtOnce : public ::testing::TestWithParam<RankRow> {};

// Upstream asks for the limits first, so that a job that is done in the same look fails.
TEST_P(SeveralReasonsAtOnce, TheStrongestCounts) {
    const RankRow& row = GetParam();
    const jobs::Job job = make_job(row.job);
    const jobs::JobStatus running = status_after(job, make_dependents(kAllRunning));
    Dependents dependents = make_dependents(row.pods);
    const Plan next = plan(job, running, dependents, row.now);
    ASSERT_TRUE(next.status);
    EXPECT_EQ(next.status->conditions.back().message, row.message);
    if (!next.status->finished()) return;
    EXPECT_THAT(next.delete_pods, IsEmpty()) << "the end is on record first";
    EXPECT_THAT(next.create_pods, IsEmpty());
    EXPECT_EQ(next.status->completion_time, kube::format_time(row.now));
}

INSTANTIATE_TEST_SUITE_P(
    Ranks, SeveralReasonsAtOnce,
    ::testing::Values(
        RankRow{.name = "SuccessBeforeDeadline",
                .job = {.deadline_seconds = 10},
                .pods = {{.type = "Master", .phase = PodPhase::kSucceeded}, {.index = 0}},
                .now = kNow + 10s,
                .message = kCompleted},
        RankRow{.name = "SuccessBeforeBackoff",
                .job = {.backoff_limit = 0},
                .pods = {{.type = "Master", .phase = PodPhase::kSucceeded},
                         {.index = 0, .node_restarts = 1}},
                .message = kCompleted},
        RankRow{.name = "FinalFailureBeforeDeadline",
                .job = {.policy = "Never", .deadline_seconds = 10},
                .pods = {{.type = "Master"}, {.index = 0, .phase = PodPhase::kFailed}},
                .now = kNow + 10s,
                .message = kLost},
        RankRow{.name = "DeadlineBeforeBackoff",
                .job = {.backoff_limit = 0, .deadline_seconds = 10},
                .pods = {{.type = "Master"}, {.index = 0, .node_restarts = 1}},
                .now = kNow + 10s,
                .message = deadline_message("demo")},
        RankRow{.name = "BackoffBeforeRestart",
                .job = {.backoff_limit = 1},
                .pods = {{.type = "Master"}, {.index = 0, .phase = PodPhase::kFailed}},
                .message = backoff_message("demo")},
        RankRow{.name = "BackoffBeforeGroupRestart",
                .job = {.backoff_limit = 1, .group = true},
                .pods = {{.type = "Master"}, {.index = 0, .phase = PodPhase::kFailed}},
                .message = backoff_message("demo")},
        RankRow{.name = "RestartBeforeTheDeadline",
                .job = {.deadline_seconds = 10},
                .pods = {{.type = "Master"}, {.index = 0, .phase = PodPhase::kFailed}},
                .now = kNow + 9s,
                .message = "job demo is restarting because Worker replica(s) failed."}),
    [](const auto& info) { return info.param.name; });

TEST(PlannerLimits, ADeadlineIsWhenToLookAgain) {
    const jobs::Job job = make_job({.deadline_seconds = 10});
    Dependents dependents = make_dependents(kAllRunning);
    const Plan next = plan(job, {}, dependents, kNow);
    EXPECT_EQ(next.requeue_at, kNow + 10s);
    const jobs::JobStatus status = *next.status;
    EXPECT_EQ(plan(job, status, dependents, kNow + 9s).requeue_at, kNow + 10s)
        << "though there is nothing to do";
    const Plan late = plan(job, status, dependents, kNow + 10s);
    EXPECT_EQ(late.requeue_at, std::nullopt);
    EXPECT_THAT(reasons(late), ElementsAre("PyTorchJobFailed"));
    EXPECT_EQ(late.events.front().type, kube::EventType::kNormal);
}

// Times are written in whole seconds.
TEST(PlannerLimits, NothingThatIsReckonedFromAWrittenTimeIsEarly) {
    const WallTime began = kNow + 900ms;
    const jobs::Job job = make_job({.deadline_seconds = 10, .ttl_seconds = 10});
    Dependents dependents = make_dependents(kAllRunning);
    const jobs::JobStatus running = *plan(job, {}, dependents, began).status;
    EXPECT_FALSE(plan(job, running, dependents, began + 9900ms).status);
    const Plan late = plan(job, running, dependents, began + 11s);
    ASSERT_TRUE(late.status);
    const jobs::JobStatus failed = *late.status;
    Dependents none;
    EXPECT_FALSE(plan(job, failed, none, began + 11s + 9900ms).delete_job);
    EXPECT_TRUE(plan(job, failed, none, began + 22s).delete_job);
}

TEST(PlannerLimits, ADeadlineOfZeroIsPastInTheMiddleOfASecond) {
    const Plan first = plan(make_job({.deadline_seconds = 0}), {}, {}, kNow + 500ms);
    ASSERT_TRUE(first.status);
    EXPECT_TRUE(first.status->is("Failed"));
    EXPECT_THAT(first.create_pods, IsEmpty());
}

TEST(PlannerLimits, ARestartThatIsNotMadeIsNotTold) {
    for (const bool gone : {false, true}) {
        const jobs::Job job = make_job({.backoff_limit = 2});
        const PodSketch first{.index = 0, .restart_history = {.restarts = 1}};
        Dependents dependents = make_dependents({{.type = "Master"}, first});
        jobs::JobStatus status = status_after(job, dependents);
        PodSketch end = first;
        if (!gone) end.phase = PodPhase::kFailed;
        const PodPtr before = make_pod(first);
        const PodPtr after = make_pod(end);
        dependents.apply(&before, gone ? nullptr : &after);
        status = status_after(job, dependents, status);
        EXPECT_TRUE(status.is("Failed"));
        EXPECT_EQ(status.replica_statuses["Worker"].restarts, 1) << gone;
    }
}

TEST(PlannerLimits, TheEndOfATtlIsWhenToLookAgain) {
    const jobs::Job job = make_job({.ttl_seconds = 10});
    Dependents dependents = make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded}});
    const jobs::JobStatus ended = status_after(job, dependents);
    const Plan early = plan(job, ended, dependents, kNow + 9s);
    EXPECT_EQ(early.requeue_at, kNow + 10s);
    EXPECT_FALSE(early.delete_job);
    EXPECT_TRUE(plan(job, ended, dependents, kNow + 10s).delete_job);
    EXPECT_FALSE(plan(make_job({}), ended, dependents, kNow + 10s).delete_job);
}

TEST(PlannerLimits, ASuspendedJobHasNoDeadline) {
    const jobs::Job job = make_job({.deadline_seconds = 10});
    const jobs::JobStatus running = status_after(job, make_dependents(kAllRunning));
    const jobs::Job suspended = make_job({.suspend = true, .deadline_seconds = 10});
    const Plan next = plan(suspended, running, make_dependents(kAllRunning), kNow + 1h);
    EXPECT_THAT(summary(*next.status), ElementsAre("Created", "Running=False", "Suspended"));
    EXPECT_EQ(next.requeue_at, std::nullopt);
}

// The pods that it needs would be too much for one plan; the rest follows.
TEST(PlannerLimits, APassDoesSoMuch) {
    const jobs::Job job = make_job({.workers = 3'000});
    const Plan next = plan(job, {}, {}, kNow);
    EXPECT_LE(next.create_pods.size() + next.create_services.size(), kWritesPerPlan + 1);
    EXPECT_GE(next.create_pods.size() + next.create_services.size(), kWritesPerPlan);
    EXPECT_TRUE(next.more);
}

}  // namespace
}  // namespace muster::operators::planner_limits_test
