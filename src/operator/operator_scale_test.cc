#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/planning/planner.h"
#include "operator/internal/world_fixture.h"

namespace muster::operators::operator_scale_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class ScaleTest : public ::testing::Test {
  protected:
    ScaleTest() { world.start_operator(); }

    void settle_and_reap() {
        world.settle();
        world.reap();
        world.settle();
    }
    const jobs::ReplicaStatus& workers() {
        status_ = world.status("demo");
        return status_.replica_statuses["Worker"];
    }

    World world;

  private:
    jobs::JobStatus status_;
};

// --- work that is done is not done again (issue 2453)

TEST_F(ScaleTest, AWorkerThatIsDeletedAfterItSucceededIsNotMadeAgain) {
    world.run_job({.workers = 3});
    world.set_phase("demo-worker-1", "Succeeded", 0);
    world.settle();
    EXPECT_EQ(workers().completed_indexes, "1");
    world.delete_pod("demo-worker-1");
    settle_and_reap();
    EXPECT_THAT(world.pods(), Not(Contains("demo-worker-1")));
    EXPECT_EQ(workers().succeeded, 1);
    EXPECT_EQ(workers().active, 2);

    world.restart_operator();
    world.run_for(1min);
    EXPECT_THAT(world.pods(), Not(Contains("demo-worker-1"))) << "another operator knows it too";
    EXPECT_EQ(workers().succeeded, 1);
    EXPECT_EQ(workers().completed_indexes, "1");
    EXPECT_EQ(world.restarts("demo"), 0);
}

TEST_F(ScaleTest, WhatSucceededCountsForTheEndThoughItsPodIsGone) {
    world.run_job({.masters = -1, .workers = 2});
    world.set_phase("demo-worker-0", "Succeeded", 0);
    world.settle();
    world.delete_pod("demo-worker-0");
    settle_and_reap();
    world.restart_operator();
    world.set_phase("demo-worker-1", "Succeeded", 0);
    world.settle();
    const jobs::JobStatus status = world.status("demo");
    EXPECT_TRUE(status.is("Succeeded"));
    EXPECT_EQ(status.replica_statuses.at("Worker").succeeded, 2);
    EXPECT_EQ(status.replica_statuses.at("Worker").completed_indexes, "") << "all of them";
}

TEST_F(ScaleTest, AWorkerThatSucceededAndWasDeletedWhileNoOperatorRan) {
    world.run_job({.workers = 2});
    world.set_phase("demo-worker-0", "Succeeded", 0);
    world.settle();
    world.stop_operator();
    world.delete_pod("demo-worker-0");
    world.reap();
    world.start_operator();
    world.run_for(1min);
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-1"));
}

// A resumed job begins again, as upstream's does.
TEST_F(ScaleTest, AfterASuspensionEveryWorkerIsMadeAgain) {
    world.run_job({.workers = 2});
    world.set_phase("demo-worker-0", "Succeeded", 0);
    world.settle();
    world.suspend_job("demo", true);
    settle_and_reap();
    EXPECT_THAT(world.pods(), IsEmpty());
    world.suspend_job("demo", false);
    world.settle();
    EXPECT_THAT(world.pods(), SizeIs(3));
    EXPECT_EQ(workers().succeeded, std::nullopt);
    world.set_all("Running");
    world.settle();
    EXPECT_EQ(workers().active, 2);
    EXPECT_EQ(workers().completed_indexes, "");
}

TEST_F(ScaleTest, AReplicaThatSucceededBeforeAScaleDownIsDoneAfterAScaleUp) {
    world.run_job({.workers = 3});
    world.set_phase("demo-worker-0", "Succeeded", 0);
    world.settle();
    world.scale_workers("demo", 1);
    settle_and_reap();
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-0"));
    world.scale_workers("demo", 3);
    settle_and_reap();
    world.delete_pod("demo-worker-0");
    settle_and_reap();
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-1", "demo-worker-2"));
}

// Upstream fails the job: a pod that terminates counts as failed, and Never makes that final.
TEST_F(ScaleTest, ARunningWorkerThatIsDeletedUnderNeverIsMadeAgain) {
    world.run_job({.policy = "Never"});
    const std::string uid = world.uid("demo-worker-1");
    world.delete_pod("demo-worker-1");
    world.settle();
    EXPECT_FALSE(world.status("demo").finished());
    EXPECT_EQ(world.restarts("demo"), 1);
    world.reap();
    world.settle();
    world.set_all("Running");
    world.settle();
    EXPECT_NE(world.uid("demo-worker-1"), uid);
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
    EXPECT_EQ(world.restarts("demo"), 1);
}

// --- numbers of replicas

// Upstream makes pod 0 and deletes it, without end (issue 1709).
TEST_F(ScaleTest, ZeroReplicasAreNone) {
    world.run_job({.workers = 0});
    world.run_for(1h);
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0"));
    EXPECT_EQ(world.transport.writes, 2 + 2) << "a pod, a service, Created and Running";
    world.scale_workers("demo", 2);
    world.settle();
    EXPECT_THAT(world.pods(), SizeIs(3));
    world.scale_workers("demo", 0);
    settle_and_reap();
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0"));
    EXPECT_THAT(world.services(), ElementsAre("demo-master-0"));
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.settle();
    EXPECT_TRUE(world.status("demo").is("Succeeded"));
}

TEST_F(ScaleTest, ScaledDownAndUpBeforeTheOldPodIsGone) {
    world.run_job({.workers = 2, .policy = "Never"});
    const std::string uid = world.uid("demo-worker-1");
    world.scale_workers("demo", 1);
    world.settle();
    world.scale_workers("demo", 2);
    world.settle();
    EXPECT_EQ(world.uid("demo-worker-1"), uid) << "it still terminates";
    EXPECT_FALSE(world.status("demo").finished());
    settle_and_reap();
    world.set_all("Running");
    world.settle();
    EXPECT_NE(world.uid("demo-worker-1"), uid);
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
    EXPECT_EQ(world.restarts("demo"), 0);
}

}  // namespace
}  // namespace muster::operators::operator_scale_test
