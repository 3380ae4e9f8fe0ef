#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/job_fixture.h"
#include "operator/internal/planning/planner.h"

// A replica whose pods go again and again.

namespace muster::operators::planner_pause_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// The second to fail soon after it was made.
PodSketch failed_again() {
    return {.index = 0,
            .phase = PodPhase::kFailed,
            .exit_code = 137,
            .restart_history = {.restarts = 1, .in_a_row = 1},
            .created = kNow - 5s,
            .ended_at = kNow};
}

TEST(PlannerPause, AFailedPodStaysUntilItsReplicaMayStartAgain) {
    const jobs::Job job = make_job({.workers = 1, .policy = "ExitCode"});
    const jobs::JobStatus running =
        status_after(job, make_dependents({{.type = "Master"}, {.index = 0}}));
    Dependents dependents = make_dependents({{.type = "Master"}, failed_again()});
    const Plan first = plan(job, running, dependents, kNow + 1s);
    EXPECT_THAT(first.delete_pods, IsEmpty());
    EXPECT_EQ(first.requeue_at, kNow + 10s);
    ASSERT_TRUE(first.status);
    EXPECT_THAT(summary(*first.status), ElementsAre("Created", "Restarting"));
    EXPECT_EQ(first.status->conditions.back().message,
              "job demo is restarting because Worker replica(s) failed. demo-worker-0 starts again "
              "after a pause of 10 s (restart 2 in a row).");
    EXPECT_EQ(first.status->replica_statuses.at("Worker").restarts, 2) << "already now";
    EXPECT_TRUE(plan(job, *first.status, dependents, kNow + 2s).empty()) << "told once";
    EXPECT_THAT(names(plan(job, *first.status, dependents, kNow + 10s).delete_pods),
                ElementsAre("demo-worker-0"));
}

TEST(PlannerPause, ADeadlineInAPauseComesFirst) {
    const jobs::Job job = make_job({.workers = 1, .policy = "ExitCode", .deadline_seconds = 6});
    jobs::JobStatus running =
        status_after(job, make_dependents({{.type = "Master"}, {.index = 0}}));
    Dependents dependents = make_dependents({{.type = "Master"}, failed_again()});
    EXPECT_EQ(plan(job, running, dependents, kNow + 1s).requeue_at, kNow + 6s);
}

TEST(PlannerPause, TheNextPodKnowsHowManyWentInARow) {
    const jobs::Job job = make_job({.workers = 1, .policy = "ExitCode"});
    Dependents dependents = make_dependents({{.type = "Master"}, failed_again()});
    const jobs::JobStatus status = status_after(job, dependents);
    const PodPtr gone = make_pod(failed_again());
    dependents.apply(&gone, nullptr);
    const Plan next = plan(job, status, dependents, kNow + 10s);
    ASSERT_THAT(replicas(next.create_pods), ElementsAre("Worker 0"));
    EXPECT_EQ(next.create_pods[0].restart_history.in_a_row, 2);
    EXPECT_EQ(next.create_pods[0].restart_history.restarts, 2);
}

struct GoneRow {
    std::string name;
    PodPhase phase;
};
class GoneAgain : public ::testing::TestWithParam<GoneRow> {};

// Whatever takes the pods away: a failed one, too, while its replica is in a pause.
TEST_P(GoneAgain, WaitsForItsNextPod) {
    const jobs::Job job = make_job({.workers = 1, .policy = "ExitCode"});
    PodSketch sketch = failed_again();
    sketch.phase = GetParam().phase;
    Dependents dependents = make_dependents({{.type = "Master"}, sketch});
    const jobs::JobStatus status = status_after(job, dependents);
    const PodPtr gone = make_pod(sketch);
    dependents.apply(&gone, nullptr);
    const Plan early = plan(job, status, dependents, kNow + 9s);
    EXPECT_THAT(early.create_pods, IsEmpty());
    EXPECT_EQ(early.requeue_at, kNow + 10s);
    EXPECT_TRUE(early.status.value_or(status).is("Restarting"));
    EXPECT_THAT(replicas(plan(job, status, dependents, kNow + 10s).create_pods),
                ElementsAre("Worker 0"));
}

INSTANTIATE_TEST_SUITE_P(Each, GoneAgain,
                         ::testing::Values(GoneRow{"Pending", PodPhase::kPending},
                                           GoneRow{"Running", PodPhase::kRunning},
                                           GoneRow{"Failed", PodPhase::kFailed}),
                         [](const auto& info) { return info.param.name; });

TEST(PlannerPause, OtherReplicasDoNotWait) {
    const jobs::Job job = make_job({.policy = "ExitCode"});
    PodSketch other{.index = 1, .phase = PodPhase::kFailed, .exit_code = 137};
    other.created = kNow - 5s;
    other.ended_at = kNow;
    Dependents dependents = make_dependents({{.type = "Master"}, failed_again(), other});
    EXPECT_THAT(names(plan(job, {}, dependents, kNow + 1s).delete_pods),
                ElementsAre("demo-worker-1"));
}

// The next operator sees no pod, but restarts that no pod accounts for.
TEST(PlannerPause, ANewOperatorKnowsOfPodsThatItNeverSaw) {
    const jobs::Job job = make_job({.workers = 1, .policy = "ExitCode"});
    Dependents dependents = make_dependents({{.type = "Master"}, failed_again()});
    const jobs::JobStatus status = status_after(job, dependents);
    Dependents anew = make_dependents({{.type = "Master"}});
    const Plan early = plan(job, status, anew, kNow + 9s);
    EXPECT_THAT(early.create_pods, IsEmpty());
    EXPECT_EQ(early.requeue_at, kNow + 10s);
    const Plan late = plan(job, status, anew, kNow + 10s);
    ASSERT_THAT(replicas(late.create_pods), ElementsAre("Worker 0"));
    EXPECT_EQ(late.create_pods[0].restart_history.in_a_row, 2);
}

TEST(PlannerPause, AResumedJobDoesNotWait) {
    const jobs::Job job = make_job({.workers = 1, .policy = "ExitCode"});
    const jobs::Job suspended = make_job({.workers = 1, .policy = "ExitCode", .suspend = true});
    Dependents dependents = make_dependents({{.type = "Master"}, failed_again()});
    jobs::JobStatus status = status_after(job, dependents);
    status = *plan(suspended, status, dependents, kNow).status;
    const PodPtr gone = make_pod(failed_again());
    const PodPtr master = make_pod({.type = "Master"});
    dependents.apply(&gone, nullptr);
    dependents.apply(&master, nullptr);
    EXPECT_THAT(replicas(plan(job, status, dependents, kNow + 1s).create_pods),
                ElementsAre("Master 0", "Worker 0"));
}

// Found by `muster simulate chaos --seed 363`.
TEST(PlannerPause, NorDoesOneThatANewOperatorSawSuspendedFirst) {
    const jobs::Job job = make_job({.workers = 1, .policy = "ExitCode"});
    const jobs::Job suspended = make_job({.workers = 1, .policy = "ExitCode", .suspend = true});
    const jobs::JobStatus restarting =
        status_after(job, make_dependents({{.type = "Master"}, failed_again()}));
    ASSERT_TRUE(restarting.is("Restarting"));
    Dependents anew = make_dependents({});
    const jobs::JobStatus status = *plan(suspended, restarting, anew, kNow + 1s).status;
    const Plan resumed = plan(job, status, anew, kNow + 2s);
    EXPECT_THAT(replicas(resumed.create_pods), ElementsAre("Master 0", "Worker 0"));
    ASSERT_TRUE(resumed.status);
    EXPECT_FALSE(resumed.status->is("Restarting"));
}

}  // namespace
}  // namespace muster::operators::planner_pause_test
