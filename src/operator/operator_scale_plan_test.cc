#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/scaling/scale_world.h"

// ScalePlans of an ElasticJob, from their objects to its pods.

namespace muster::operators::operator_scale_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using namespace std::chrono_literals;

class ScalePlanTest : public ::testing::Test {
  protected:
    ScaleWorld its;
    World& world = its.world;
};

TEST_F(ScalePlanTest, ChangesTheNumberOfWorkersUpAndDown) {
    its.run_job(2);
    its.plan("more", workers(4));
    world.settle();
    EXPECT_THAT(its.workers(), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(its.variable(its.worker(3), "NODE_NUM"), "4");
    EXPECT_EQ(its.told("more"), "Succeeded");
    const json::value status = world.object(jobs::kScalePlans, "more")->at("status");
    EXPECT_EQ(status.at("observedGeneration"), 1);
    EXPECT_FALSE(status.at("createTime").as_string().empty());
    EXPECT_FALSE(status.at("finishTime").as_string().empty());
    its.run_all();
    EXPECT_EQ(its.status().replica_statuses.at("worker").active, 4);
    EXPECT_THAT(world.events("demo"),
                ::testing::Contains("JobScaled: ScalePlan more is executed."));

    its.plan("fewer", workers(2));
    world.settle();
    EXPECT_THAT(its.workers(), ElementsAre(0, 1));
    its.run_all();
    EXPECT_EQ(its.told("fewer"), "Succeeded");
    EXPECT_THAT(its.status().plan->replicas, IsEmpty()) << "as the manifest says";
    EXPECT_EQ(its.status().replica_statuses.at("worker").active, 2);
    EXPECT_THAT(its.executed, SizeIs(2));
}

TEST_F(ScalePlanTest, AnEditOfTheNumberCountsAfterwards) {
    its.run_job(2);
    its.plan("more", workers(4));
    world.settle();
    its.run_all();
    const auto set = [&](int number) {
        its.edit(elastic().resource, "demo", [&](json::object& spec) {
            spec.at("replicaSpecs").at("worker").as_object()["replicas"] = number;
        });
        world.settle();
        its.run_all();
    };
    set(3);
    EXPECT_THAT(its.workers(), SizeIs(3));
    EXPECT_EQ(its.told("more"), "Succeeded");
    set(2);
    EXPECT_THAT(its.workers(), SizeIs(2)) << "what the plan asked instead of 2 is not asked again";
    // Another edit is none of the number.
    its.plan("again", workers(5));
    world.settle();
    its.run_all();
    its.edit(elastic().resource, "demo",
             [](json::object& spec) { spec["brainService"] = "brain:1"; });
    world.settle();
    EXPECT_THAT(its.workers(), SizeIs(5));
}

TEST_F(ScalePlanTest, PodsAreRemovedByNameAndById) {
    its.run_job(4);
    its.plan("some",
             R"("removePods": [{"name": "demo-edljob-worker-1"}, {"type": "worker", "id": 2}])");
    world.settle();
    EXPECT_THAT(its.workers(), ElementsAre(0, 3));
    its.run_all();
    EXPECT_EQ(its.told("some"), "Succeeded");
    its.plan("one", R"("createPods": [{"type": "worker", "id": 4, "rankIndex": 1}])");
    world.settle();
    its.run_all();
    EXPECT_EQ(its.told("one"), "Succeeded");
    EXPECT_THAT(its.workers(), ElementsAre(0, 3, 4));
    EXPECT_EQ(world.rank(its.worker(4)), 1) << "the lowest that is free";
}

TEST_F(ScalePlanTest, AMigrationMakesTheNewPodFirst) {
    its.run_job(2);
    its.plan("move", R"("migratePods": [{"type": "worker", "id": 0}])");
    world.settle();
    EXPECT_THAT(its.workers(), ElementsAre(0, 1, 2));
    EXPECT_EQ(world.rank(its.worker(2)), 0);
    its.run(its.worker(2), false);
    world.run_for(1min);
    EXPECT_THAT(its.workers(), ElementsAre(0, 1, 2)) << "it is not ready";
    EXPECT_EQ(its.told("move"), "Scaling: worker 2 is to take over from 0");
    its.run(its.worker(2), true);
    world.settle();
    EXPECT_THAT(its.workers(), ElementsAre(1, 2));
    its.run_all();
    EXPECT_EQ(its.told("move"), "Succeeded");
    EXPECT_EQ(its.status().replica_statuses.at("worker").active, 2);
    EXPECT_EQ(its.status().replica_statuses.at("worker").restarts, std::nullopt);
}

TEST_F(ScalePlanTest, ResourcesReachThePodsThatAreMadeFromThenOn) {
    its.run_job(1);
    its.plan("larger", R"("replicaResourceSpecs": {"worker": {"replicas": 2, "resource":
                          {"cpu": "3", "memory": "1Gi"}}})");
    world.settle();
    const auto resources = [&](int id) {
        return world.object(kube::types::kPods, its.worker(id))
            ->at("spec")
            .at("containers")
            .at(0)
            .at("resources");
    };
    EXPECT_EQ(resources(0), json::parse(R"({"requests": {"cpu": "1"}})"));
    EXPECT_EQ(resources(1), json::parse(R"({"requests": {"cpu": "3", "memory": "1Gi"},
                                            "limits": {"cpu": "3", "memory": "1Gi"}})"));
    its.run_all();
    its.plan("fewer", workers(1));
    world.settle();
    its.plan("moved", R"("migratePods": [{"type": "worker", "id": 0}])");
    world.settle();
    its.run_all();
    EXPECT_THAT(its.workers(), ElementsAre(2));
    EXPECT_EQ(resources(2).at("limits").at("cpu"), "3");
}

TEST_F(ScalePlanTest, ResourcesOfOnePodBelongToItsRank) {
    its.run_job(2);
    const auto cores = [&](int id) { return its.requested(its.worker(id), "cpu"); };
    its.plan("larger",
             R"("migratePods": [{"type": "worker", "id": 0, "resource": {"cpu": "3"}}],
                "createPods": [{"type": "worker", "resource": {"cpu": "2", "memory": "1Gi"}}])");
    world.settle();
    its.run_all();
    EXPECT_EQ(its.told("larger"), "Succeeded");
    EXPECT_THAT(its.workers(), ElementsAre(1, 2, 3));
    EXPECT_EQ(std::tuple(cores(1), cores(2), cores(3)), std::tuple("1", "3", "2"));
    EXPECT_EQ(its.requested(its.worker(3), "memory"), "1Gi");

    // So do those that follow it, whichever operator makes them.
    world.set_phase(its.worker(2), "Failed", 1);
    world.settle();
    world.restart_operator();
    its.run_all();
    EXPECT_THAT(its.workers(), ElementsAre(1, 3, 4));
    EXPECT_EQ(cores(4), "3");

    // Another rank that is made later has none of it, and neither has what follows an edit.
    its.plan("fewer", R"("removePods": [{"type": "worker", "id": 4}])");
    world.settle();
    its.run_all();
    its.plan("more", R"("createPods": [{"type": "worker"}])");
    world.settle();
    its.run_all();
    EXPECT_EQ(cores(5), "1");
    EXPECT_EQ(world.rank(its.worker(5)), 0);
    its.edit(elastic().resource, "demo", [](json::object& spec) {
        json::value& pod = spec.at("replicaSpecs").at("worker").at("template").at("spec");
        pod.at("containers").at(0).as_object()["resources"] =
            json::parse(R"({"requests": {"cpu": "4"}})");
    });
    world.settle();
    its.plan("again", R"("migratePods": [{"type": "worker", "id": 3}])");
    world.settle();
    its.run_all();
    EXPECT_EQ(cores(6), "4");
    EXPECT_EQ(its.requested(its.worker(6), "memory"), "1Gi") << "the edit was not about it";
}

TEST_F(ScalePlanTest, ResourcesOfOnePodCountAgainstTheJobsLimit) {
    its.run_job(2, R"("resourceLimits": {"cpu": "4"},)");
    const std::string moved =
        R"("migratePods": [{{"type": "worker", "id": {}, "resource": {{"cpu": "{}"}}}}])";
    its.plan("a", fmt::format(fmt::runtime(moved), 0, 4));
    its.plan("b", fmt::format(fmt::runtime(moved), 0, 3));
    world.settle();
    its.run_all();
    EXPECT_THAT(its.told("a"), HasSubstr("spec.resourceLimits.cpu: the pods request 5 together"));
    EXPECT_EQ(its.told("b"), "Succeeded");
    its.plan("c", workers(3));
    world.settle();
    EXPECT_THAT(its.told("c"), HasSubstr("the pods request 5 together")) << "3, 1 and 1";
    its.plan("d", fmt::format(fmt::runtime(moved), 2, 2));
    world.settle();
    its.run_all();
    EXPECT_EQ(its.told("d"), "Succeeded");
    EXPECT_EQ(its.requested(its.worker(3), "cpu"), "2");
}

TEST_F(ScalePlanTest, RefusedPlansSayWhy) {
    its.run_job(2, R"("resourceLimits": {"cpu": "4"},)");
    const std::vector<std::pair<std::string, std::string>> plans{
        {workers(9),
         "Failed: ElasticJob \"demo\" is invalid: spec.resourceLimits.cpu: the pods "
         "request 9"},
        {R"("replicaResourceSpecs": {"worker": {"resource": {"cpu": "3"}}})",
         "Failed: ElasticJob \"demo\" is invalid: spec.resourceLimits.cpu"},
        {R"("removePods": [{"type": "worker", "id": 7}])",
         "Failed: spec.removePods[0]: the job has no worker with the id 7"},
        {R"("replicaResourceSpecs": {"master": {"replicas": 1}})",
         "Failed: spec.replicaResourceSpecs.master: an ElasticJob has no replica type"},
        {R"("psHosts": ["a"])", "Failed: spec: the plan changes nothing"},
        {workers(0), "Failed: spec: 0 of worker is below the minimum"},
    };
    for (std::size_t i = 0; i < plans.size(); ++i) its.plan(fmt::format("p{}", i), plans[i].first);
    world.run_for(1s);
    for (std::size_t i = 0; i < plans.size(); ++i)
        EXPECT_THAT(its.told(fmt::format("p{}", i)), StartsWith(plans[i].second));
    EXPECT_THAT(its.workers(), ElementsAre(0, 1));
    EXPECT_THAT(its.executed, IsEmpty());
    its.plan("good", workers(3));
    world.settle();
    EXPECT_THAT(its.workers(), SizeIs(3));
}

TEST_F(ScalePlanTest, APlanMayComeBeforeItsJobAndOneWithoutAJobFails) {
    its.plan("early", workers(3));
    world.settle();
    EXPECT_THAT(its.told("early"), StartsWith("Pending: there is no job \"demo\""));
    its.run_job(2);
    world.settle();
    EXPECT_THAT(its.workers(), SizeIs(3));
    EXPECT_EQ(its.told("early"), "Succeeded");
    its.create(jobs::kScalePlans, plan_object("lone", workers(3), "manual", "other"));
    world.run_for(50s);
    EXPECT_THAT(its.told("lone"), StartsWith("Pending: "));
    world.run_for(20s);
    EXPECT_EQ(its.told("lone"), "Failed: there is no job \"other\" in the namespace default");
}

TEST_F(ScalePlanTest, AJobThatHasEndedIsNotChanged) {
    its.run_job(1);
    its.plan("move", R"("migratePods": [{"type": "worker", "id": 0}])");
    world.settle();
    its.plan("wait", workers(2));
    world.settle();
    EXPECT_EQ(its.told("wait"), "Pending: waits for the plans before it");
    world.set_phase("elasticjob-demo-dlrover-master-0", "Failed", 1);
    world.settle();
    ASSERT_TRUE(its.status().finished());
    its.plan("late", workers(2));
    world.settle();
    for (const char* plan : {"move", "wait", "late"})
        EXPECT_EQ(its.told(plan), "Failed: ElasticJob demo has failed");
}

TEST_F(ScalePlanTest, PlansAreExecutedOneAfterTheOther) {
    its.run_job(2);
    world.stop_operator();
    its.plan("demo-plan", workers(5), "auto");
    its.plan("a", R"("migratePods": [{"type": "worker", "id": 1}])");
    its.plan("b", workers(3));
    world.start_operator();
    world.settle();
    EXPECT_EQ(its.told("a"), "Scaling: worker 2 is to take over from 1");
    EXPECT_EQ(its.told("b"), "Pending: waits for the plans before it");
    EXPECT_THAT(its.workers(), ElementsAre(0, 1, 2));
    its.run_all();
    for (const char* plan : {"a", "b", "demo-plan"}) EXPECT_EQ(its.told(plan), "Succeeded") << plan;
    EXPECT_THAT(its.workers(), SizeIs(5)) << "the master's comes last";
    EXPECT_THAT(its.executed, SizeIs(3));
}

TEST_F(ScalePlanTest, ThatIsDeletedWhileItIsUnderWayHoldsUpNothing) {
    its.run_job(2);
    its.plan("stuck", R"("migratePods": [{"type": "worker", "id": 1}])");
    world.settle();
    its.plan("next", R"("removePods": [{"type": "worker", "id": 2}])");
    world.settle();
    EXPECT_EQ(its.told("next"), "Pending: waits for the plans before it");
    ASSERT_TRUE(world.wait(world.client.remove(jobs::kScalePlans, "default", "stuck")).has_value());
    world.settle();
    EXPECT_THAT(its.workers(), ElementsAre(0, 1));
    its.run_all();
    EXPECT_EQ(its.told("next"), "Succeeded");
}

TEST_F(ScalePlanTest, AnEditedPlanIsExecutedOnceMore) {
    its.run_job(2);
    its.plan("p", workers(3));
    world.settle();
    its.run_all();
    its.edit(jobs::kScalePlans, "p", [](json::object& spec) {
        spec.at("replicaResourceSpecs").at("worker").as_object()["replicas"] = 4;
    });
    world.settle();
    its.run_all();
    EXPECT_THAT(its.workers(), SizeIs(4));
    EXPECT_EQ(its.told("p"), "Succeeded");
    EXPECT_THAT(its.executed, SizeIs(2));
}

TEST_F(ScalePlanTest, AnotherOperatorExecutesNothingAgain) {
    its.run_job(2);
    its.plan("p", R"("createPods": [{"type": "worker"}])");
    world.settle();
    its.run_all();
    its.edit(elastic().resource, "demo", [](json::object& spec) {
        spec.at("replicaSpecs").at("worker").as_object()["replicas"] = 5;
    });
    its.run_all();
    for (int i = 0; i < 2; ++i) {
        world.restart_operator();
        world.run_for(2min);
        EXPECT_THAT(its.workers(), SizeIs(5));
    }
    EXPECT_THAT(its.executed, SizeIs(1));
}

TEST_F(ScalePlanTest, ASuspendedJobIsChangedWhenItIsResumed) {
    its.run_job(2);
    const auto suspend = [&](bool suspended) {
        its.edit(elastic().resource, "demo",
                 [&](json::object& spec) { spec["suspend"] = suspended; });
        its.run_all();
    };
    suspend(true);
    its.plan("p", workers(3));
    world.settle();
    EXPECT_EQ(its.told("p"), "Pending: the job is suspended");
    suspend(false);
    its.run_all();
    EXPECT_EQ(its.told("p"), "Succeeded");
    EXPECT_THAT(its.workers(), SizeIs(3));
}

TEST_F(ScalePlanTest, OfThoseThatHaveEndedTheLastTenStay) {
    its.run_job(1);
    for (int i = 0; i < 13; ++i) {
        its.plan(fmt::format("p{:02}", i), workers(i % 2 + 1));
        world.settle();
        its.run_all();
        world.run_for(1s);
    }
    EXPECT_EQ(its.told("p02"), "gone");
    for (int i = 3; i < 13; ++i) EXPECT_EQ(its.told(fmt::format("p{:02}", i)), "Succeeded");
    const int writes = world.transport.writes;
    world.run_for(1h);
    EXPECT_EQ(world.transport.writes, writes);
}

TEST_F(ScalePlanTest, AReplicaThatFailsMeanwhileIsReplaced) {
    its.run_job(2);
    its.plan("p", workers(4));
    world.set_phase(its.worker(0), "Failed", 137);
    world.settle();
    world.outlast_pause();
    its.run_all();
    EXPECT_EQ(its.told("p"), "Succeeded");
    EXPECT_THAT(its.workers(), SizeIs(4));
}

TEST(ScalePlans, AreExecutedOnceTheirDefinitionIsThere) {
    ScaleWorld its(false);
    its.run_job(2);
    EXPECT_THAT(its.workers(), SizeIs(2));
    its.define_plans();
    its.plan("p", workers(3));
    its.world.run_for(2min);
    EXPECT_THAT(its.workers(), SizeIs(3));
}

}  // namespace
}  // namespace muster::operators::operator_scale_plan_test
