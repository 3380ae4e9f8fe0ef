#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/planning/limits.h"
#include "operator/internal/world_fixture.h"

namespace muster::operators::operator_limits_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class LimitsTest : public ::testing::Test {
  protected:
    LimitsTest() {
        world.start_operator();
        world.transport.before_write = [this](const kube::Request& request) {
            if (request.method == kube::Method::kDelete && request.path.ends_with("jobs/demo"))
                ++job_deletions;
            if (request.method == kube::Method::kPost && request.path.ends_with("/pods"))
                ++pod_creations;
        };
    }

    bool has_failed() { return world.status("demo").is("Failed"); }
    std::string why() { return world.status("demo").conditions.back().message; }
    bool exists() { return world.object(pytorch().resource, "demo").has_value(); }

    World world;
    int job_deletions = 0;
    int pod_creations = 0;
};

// --- backoffLimit

/// How a worker dies, again and again.
struct DeathRow {
    std::string name;
    std::string policy;
    std::string how;
    std::optional<std::int32_t> exit_code = std::nullopt;
};
class EveryDeathCounts : public LimitsTest, public ::testing::WithParamInterface<DeathRow> {
  protected:
    void kill_worker() {
        world.set_phase("demo-worker-0", "Running");
        world.settle();
        if (GetParam().how == "fails") {
            world.set_phase("demo-worker-0", "Failed", GetParam().exit_code);
        } else if (GetParam().how == "deleted") {
            world.delete_pod("demo-worker-0");
            world.settle();
            world.reap();
        } else {
            world.force_delete_pod("demo-worker-0");
        }
        world.outlast_pause();
    }
};

// Upstream counts only what the node restarts in place, and only of pods that run: with a limit of
// 3 and exit code 143 it made 279 pods in a minute (issues 2045, 1589, 2342).
TEST_P(EveryDeathCounts, UpToTheLimit) {
    world.run_job({.workers = 1, .policy = GetParam().policy, .backoff_limit = 3});
    for (int deaths = 1; deaths <= 2; ++deaths) {
        kill_worker();
        EXPECT_EQ(world.restarts("demo"), deaths);
        EXPECT_FALSE(has_failed());
        EXPECT_EQ(world.annotation("demo-worker-0", "muster.dev/restarts"),
                  fmt::format("{}", deaths));
    }
    kill_worker();
    EXPECT_EQ(world.restarts("demo"), 2) << "the third was not made";
    EXPECT_TRUE(has_failed());
    EXPECT_EQ(why(), backoff_message("demo"));
    world.run_for(10min);
    EXPECT_EQ(pod_creations, 2 + 2) << "the last death has no successor";
}

// The same with an operator that is replaced after each death.
TEST_P(EveryDeathCounts, AcrossOperators) {
    world.run_job({.workers = 1, .policy = GetParam().policy, .backoff_limit = 3});
    for (int deaths = 1; deaths <= 3; ++deaths) {
        EXPECT_FALSE(has_failed());
        kill_worker();
        world.restart_operator();
        world.settle();
        EXPECT_EQ(world.restarts("demo"), std::min(deaths, 2));
    }
    EXPECT_TRUE(has_failed());
}

INSTANTIATE_TEST_SUITE_P(
    Deaths, EveryDeathCounts,
    ::testing::Values(DeathRow{"ExitCode143", "ExitCode", "fails", 143},
                      DeathRow{"ExitCodeEvicted", "ExitCode", "fails"},
                      DeathRow{"OnFailureEvicted", "OnFailure", "fails"},
                      DeathRow{"OnFailure1", "OnFailure", "fails", 1},
                      DeathRow{"AlwaysEvicted", "Always", "fails"},
                      DeathRow{"DeletedUnderNever", "Never", "deleted"},
                      DeathRow{"DeletedUnderOnFailure", "OnFailure", "deleted"},
                      DeathRow{"DeletedUnderExitCode", "ExitCode", "deleted"},
                      DeathRow{"ForceDeletedUnderNever", "Never", "forced"},
                      DeathRow{"ForceDeletedUnderOnFailure", "OnFailure", "forced"}),
    [](const auto& info) { return info.param.name; });

class LimitOfZero : public LimitsTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(LimitOfZero, AllowsNoRestart) {
    world.run_job({.workers = 1, .policy = GetParam(), .backoff_limit = 0});
    EXPECT_FALSE(has_failed());
    world.set_phase("demo-worker-0", "Failed", 143);
    world.settle();
    EXPECT_TRUE(has_failed());
    EXPECT_EQ(pod_creations, 2);
}

INSTANTIATE_TEST_SUITE_P(Policies, LimitOfZero,
                         ::testing::Values("Always", "OnFailure", "ExitCode", "Never"),
                         [](const auto& info) { return info.param; });

// tensorflow/job_test.go "Backoff for OnFailure": four workers that the node restarted once each,
// a limit of four.
TEST_F(LimitsTest, BackoffForOnFailure) {
    world.run_job({.workers = 4, .backoff_limit = 4});
    for (int worker = 0; worker < 4; ++worker) {
        EXPECT_FALSE(has_failed());
        world.set_phase(fmt::format("demo-worker-{}", worker), "Running", std::nullopt, 1);
        world.settle();
    }
    EXPECT_TRUE(has_failed());
    EXPECT_EQ(why(), "Job demo has failed because it has reached the specified backoff limit");
    EXPECT_THAT(world.events("demo"), Contains("PyTorchJobFailed: " + why()));
    world.reap();
    world.settle();
    EXPECT_THAT(world.pods(), IsEmpty()) << "all of them ran";
}

// Containers restarted in place and pods replaced are one account.
TEST_F(LimitsTest, ALifeWithEveryKindOfRestart) {
    world.run_job({.workers = 2, .backoff_limit = 10});
    world.set_phase("demo-worker-0", "Running", std::nullopt, 2);
    world.settle();
    EXPECT_EQ(world.restarts("demo"), 2);
    world.set_phase("demo-worker-0", "Failed");  // evicted: its containers' statuses are gone
    world.settle();
    EXPECT_EQ(world.restarts("demo"), 3);
    world.set_phase("demo-worker-0", "Running", std::nullopt, 1);
    world.force_delete_pod("demo-worker-1");
    world.settle();
    EXPECT_EQ(world.restarts("demo"), 5);
    world.restart_operator();
    world.settle();
    world.set_all("Running");
    world.settle();
    EXPECT_EQ(world.restarts("demo"), 5);
    world.set_phase("demo-worker-1", "Failed", 1);
    world.settle();
    EXPECT_EQ(world.restarts("demo"), 6);
    EXPECT_EQ(world.restarts("demo", "Master"), 0);
}

// Else the next restarts would hide behind those of replicas that are gone.
TEST_F(LimitsTest, ScalingDownForgivesNothing) {
    world.run_job({.workers = 2, .backoff_limit = 3});
    for (int i = 0; i < 2; ++i) {
        world.set_phase("demo-worker-1", "Failed");
        world.outlast_pause();
        world.set_phase("demo-worker-1", "Running");
        world.settle();
    }
    world.scale_workers("demo", 1);
    world.settle();
    world.reap();
    world.settle();
    EXPECT_EQ(world.restarts("demo"), 2);
    EXPECT_FALSE(has_failed());
    world.set_phase("demo-worker-0", "Failed");
    world.settle();
    EXPECT_EQ(world.restarts("demo"), 2);
    EXPECT_TRUE(has_failed());
}

TEST_F(LimitsTest, SuspendingIsNoRestart) {
    world.run_job({.workers = 2, .backoff_limit = 1});
    world.suspend_job("demo", true);
    world.settle();
    world.restart_operator();
    world.settle();
    world.reap();
    world.settle();
    world.suspend_job("demo", false);
    world.settle();
    world.set_all("Running");
    world.settle();
    EXPECT_EQ(world.restarts("demo"), 0);
    EXPECT_THAT(summary(world.status("demo")),
                ElementsAre("Created", "Suspended=False", "Running"));
}

TEST_F(LimitsTest, SuspendingForgivesNothing) {
    world.run_job({.workers = 1, .backoff_limit = 2});
    world.set_phase("demo-worker-0", "Failed");
    world.settle();
    world.suspend_job("demo", true);
    world.settle();
    world.reap();
    world.settle();
    world.suspend_job("demo", false);
    world.settle();
    world.set_all("Running");
    world.settle();
    EXPECT_EQ(world.restarts("demo"), 1);
    world.set_phase("demo-worker-0", "Failed");
    world.settle();
    EXPECT_TRUE(has_failed());
}

// --- activeDeadlineSeconds

// Upstream puts the job into a queue without a worker: nothing happens until the next event
// (issue 3358).
TEST_F(LimitsTest, ADeadlineFiresWithoutAnyEvent) {
    world.run_job({.deadline_seconds = 10});
    world.run_for(9500ms);
    EXPECT_FALSE(has_failed()) << "it has run for 9.9 s";
    world.run_for(1100ms);
    EXPECT_TRUE(has_failed());
    EXPECT_EQ(why(), "Job demo has failed because it was active longer than specified deadline");
    EXPECT_NE(world.status("demo").completion_time, "");
    EXPECT_THAT(world.events("demo"), Contains("PyTorchJobFailed: " + why()));
}

// tensorflow/job_test.go "Active Deadline Seconds": without it all six pods stay.
TEST_F(LimitsTest, WithoutADeadlineAJobRunsOn) {
    world.run_job({.workers = 5});
    world.run_for(24h);
    EXPECT_FALSE(world.status("demo").finished());
    EXPECT_THAT(world.pods(), SizeIs(6));
}

TEST_F(LimitsTest, ADeadlineOfZeroIsPastAtOnce) {
    world.create_job({.deadline_seconds = 0});
    world.settle();
    EXPECT_TRUE(has_failed());
    EXPECT_EQ(pod_creations, 0);
}

TEST_F(LimitsTest, ADeadlineIsOfTheCalendar) {
    world.run_job({.deadline_seconds = 3600});
    world.clock.skew_wall(-30min);
    world.run_for(61min);
    EXPECT_FALSE(has_failed()) << "the calendar was set back";
    world.clock.skew_wall(1h);
    world.settle();
    EXPECT_TRUE(has_failed()) << "the calendar was set forward";
}

TEST_F(LimitsTest, ADeadlineOutlivesTheOperator) {
    world.run_job({.deadline_seconds = 60});
    world.restart_operator();
    world.run_for(30s);
    EXPECT_FALSE(has_failed());
    world.run_for(31s);
    EXPECT_TRUE(has_failed());

    world.run_job({.name = "other", .deadline_seconds = 60});
    world.stop_operator();
    world.run_for(2min);
    world.start_operator();
    world.settle();
    EXPECT_TRUE(world.status("other").is("Failed"));
}

TEST_F(LimitsTest, ADeadlineCountsFromTheResumption) {
    world.run_job({.deadline_seconds = 60});
    world.suspend_job("demo", true);
    world.run_for(1h);
    EXPECT_FALSE(has_failed()) << "nor while it is suspended";
    world.reap();
    world.suspend_job("demo", false);
    world.run_for(59s);
    EXPECT_FALSE(has_failed());
    world.run_for(2s);
    EXPECT_TRUE(has_failed());
}

TEST_F(LimitsTest, AnEditMovesADeadline) {
    world.run_job({.deadline_seconds = 60});
    world.edit_job("demo", [](json::object& spec) {
        spec["runPolicy"].as_object()["activeDeadlineSeconds"] = 120;
    });
    world.run_for(90s);
    EXPECT_FALSE(has_failed());
    world.edit_job("demo", [](json::object& spec) {
        spec["runPolicy"].as_object().erase("activeDeadlineSeconds");
    });
    world.run_for(1h);
    EXPECT_FALSE(has_failed());
    world.edit_job("demo", [](json::object& spec) {
        spec["runPolicy"].as_object()["activeDeadlineSeconds"] = 1;
    });
    world.settle();
    EXPECT_TRUE(has_failed());
}

// --- what a limit leaves

struct LeftRow {
    std::string clean;
    std::vector<std::string> pods;
};
class TestBackoffLimitExceededRespectsCleanPodPolicy
    : public LimitsTest,
      public ::testing::WithParamInterface<LeftRow> {};

// training-operator v1.9.4 has this test. Up to 1.9.3 all pods went whatever the policy said
// (issue 3419), since then those that run keep running under None. Ours never run on, and what
// ended stays to be looked at.
TEST_P(TestBackoffLimitExceededRespectsCleanPodPolicy, AndStopsWhatRuns) {
    for (const bool deadline : {false, true}) {
        World each;
        each.start_operator();
        JobSketch sketch{.workers = 3, .clean = GetParam().clean};
        deadline ? void(sketch.deadline_seconds = 10) : void(sketch.backoff_limit = 1);
        each.create_job(sketch);
        each.settle();
        each.set_phase("demo-master-0", "Running");
        each.set_phase("demo-worker-0", "Succeeded", 0);
        each.set_phase("demo-worker-1", "Running");
        each.settle();
        if (!deadline) each.set_phase("demo-worker-1", "Running", std::nullopt, 1);
        each.run_for(11s);
        EXPECT_TRUE(each.status("demo").is("Failed"));
        each.reap();
        each.settle();
        EXPECT_THAT(each.pods(), ::testing::ElementsAreArray(GetParam().pods)) << deadline;
        EXPECT_THAT(each.services(), ::testing::ElementsAreArray(GetParam().pods)) << deadline;
    }
}

INSTANTIATE_TEST_SUITE_P(Upstream, TestBackoffLimitExceededRespectsCleanPodPolicy,
                         ::testing::Values(LeftRow{"None", {"demo-worker-0"}},
                                           LeftRow{"Running", {"demo-worker-0"}},
                                           LeftRow{"All", {}}),
                         [](const auto& info) { return info.param.clean; });

// --- ttlSecondsAfterFinished

class TtlAfter : public LimitsTest, public ::testing::WithParamInterface<std::string> {};

// tensorflow/job_test.go "TTL": 3 s for jobs that succeeded and jobs that failed.
TEST_P(TtlAfter, DeletesOnceAtItsTime) {
    world.run_job({.policy = "Never", .ttl_seconds = 3});
    world.run_for(1h);
    EXPECT_TRUE(exists()) << "it has not ended";
    world.set_phase("demo-master-0", GetParam(), GetParam() == "Failed" ? 1 : 0);
    world.settle();
    ASSERT_TRUE(world.status("demo").finished());
    world.run_for(2500ms);
    EXPECT_TRUE(exists()) << "it ended 2.7 s ago";
    world.run_for(1500ms);
    EXPECT_FALSE(exists());
    world.run_for(1h);
    EXPECT_EQ(job_deletions, 1);
    EXPECT_THAT(world.events("demo"), Contains("SuccessfulDeleteJob: Deleted job: demo"));
}

INSTANTIATE_TEST_SUITE_P(Ends, TtlAfter, ::testing::Values("Succeeded", "Failed"),
                         [](const auto& info) { return info.param; });

// The CleanupJob table: nothing is deleted while suspend is set.
TEST_F(LimitsTest, TtlWaitsWhileSuspended) {
    world.run_job({.ttl_seconds = 3});
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.settle();
    world.suspend_job("demo", true);
    world.run_for(1h);
    EXPECT_TRUE(exists());
    world.suspend_job("demo", false);
    world.settle();
    EXPECT_FALSE(exists());
}

TEST_F(LimitsTest, ATtlOfZeroDeletesAtOnce) {
    world.run_job({.ttl_seconds = 0});
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.run_for(1s);
    EXPECT_FALSE(exists());
    EXPECT_EQ(job_deletions, 1);
}

TEST_F(LimitsTest, ATtlOutlivesTheOperatorAndFollowsTheCalendar) {
    world.run_job({.ttl_seconds = 3600});
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.settle();
    world.restart_operator();
    world.run_for(59min);
    EXPECT_TRUE(exists());
    world.clock.skew_wall(2min);
    world.settle();
    EXPECT_FALSE(exists());
    EXPECT_EQ(job_deletions, 1);
}

// A finalizer of someone else holds the job; it was deleted once.
TEST_F(LimitsTest, AJobThatIsHeldIsDeletedOnce) {
    world.run_job({.ttl_seconds = 3});
    world.hold_job("demo");
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.run_for(1h);
    world.restart_operator();
    world.run_for(1h);
    EXPECT_TRUE(exists());
    EXPECT_EQ(job_deletions, 1);
}

TEST_F(LimitsTest, ADeletionAtTheEndOfItsTtlIsTriedAgain) {
    world.run_job({.ttl_seconds = 3});
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.settle();
    world.transport.failure_probability = 1;
    world.run_for(10s);
    world.transport.failure_probability = 0;
    world.run_for(5min);
    EXPECT_FALSE(exists());
}

}  // namespace
}  // namespace muster::operators::operator_limits_test
