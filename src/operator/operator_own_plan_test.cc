#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "kube/values/time.h"
#include "operator/internal/scaling/scale_world.h"

// The plan of a job's master: who makes it, what becomes of its wishes, and the nodes that a job leaves
// out because of one.

namespace muster::operators::operator_own_plan_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

const jobs::Platform kCluster{.program_image = "muster:1", .cluster = true, .pods_reach_api = true};
const jobs::Platform kOneMachine{.program_image = "muster:1", .pods_reach_api = true};

class OwnPlan : public ::testing::Test {
  protected:
    explicit OwnPlan(jobs::Platform platform = kCluster, bool with_plans = true)
        : its(with_plans, 1, std::move(platform)) {}

    std::optional<json::value> plan() { return world.object(jobs::kScalePlans, "demo-plan"); }
    /// As the master does it.
    void wish(const std::string& spec) {
        its.edit(jobs::kScalePlans, "demo-plan", [&](json::object& fields) {
            fields = json::parse(R"({"ownerJob": "demo", )" + spec + "}").as_object();
        });
        world.settle();
    }
    std::string affinity(const std::string& pod) {
        const json::value spec = world.object(kube::types::kPods, pod)->at("spec");
        const json::value* written = spec.as_object().if_contains("affinity");
        return written == nullptr ? "" : json::serialize(*written);
    }

    ScaleWorld its;
    World& world = its.world;
};

TEST_F(OwnPlan, IsMadeWithTheJobAndGoesWithIt) {
    its.run_job(2);
    ASSERT_TRUE(plan().has_value());
    EXPECT_EQ(plan()->at("spec"), json::parse(R"({"ownerJob": "demo"})"));
    EXPECT_EQ(plan()->at_pointer("/metadata/ownerReferences/0/name"), "demo");
    EXPECT_EQ(plan()->at_pointer("/metadata/labels/scale-type"), "auto");
    const json::value made = *plan();
    const int writes = world.transport.writes;
    world.restart_operator();
    world.run_for(5min);
    EXPECT_EQ(*plan(), made) << "nothing is told of a plan that asks for nothing";
    EXPECT_EQ(world.transport.writes, writes);
    EXPECT_THAT(its.executed, IsEmpty());
    ASSERT_TRUE(world.wait(world.client.remove(elastic().resource, "default", "demo")).has_value());
    world.settle();
    world.reap();
    world.run_for(5s);
    EXPECT_FALSE(plan().has_value());
}

// Jobs that wait for a worker cut the passes of others short.
TEST_F(OwnPlan, IsMadeWhenNoPodOfTheJobIsLackingAnyMore) {
    constexpr int kJobs = 6;
    constexpr int kWorkers = 40;
    std::map<std::string, std::vector<std::string>> made;  // by the job's name
    world.transport.before_write = [&](const kube::Request& request) {
        if (request.method != kube::Method::kPost) return;
        const std::string of(kube::string_at(
            kube::child(kube::child(request.body->as_object(), "metadata"), "labels"),
            jobs::labels::kJobName));
        if (request.path.ends_with("/pods")) made[of].emplace_back("pod");
        if (!request.path.ends_with("/scaleplans")) return;
        EXPECT_NE(request.flow, "") << "it is sent in the turns of its job";
        const std::string name(request.body->at("metadata").at("name").as_string());
        made[name.substr(0, name.rfind('-'))].emplace_back("plan");
    };
    world.transport.longest_delay = 30ms;
    for (int i = 0; i < kJobs; ++i) {
        its.create(elastic().resource,
                   elastic_object(replica_spec("worker", kWorkers), {}, fmt::format("job-{}", i)));
    }
    world.run_for(1min);
    ASSERT_THAT(made, SizeIs(kJobs));
    for (const auto& [job, writes] : made) {
        EXPECT_THAT(writes, SizeIs(kWorkers + 2)) << job;
        EXPECT_EQ(writes.back(), "plan") << job;
    }
}

TEST_F(OwnPlan, OneThatWasDeletedComesBackAfterAPause) {
    its.run_job(1);
    const auto remove = [&] {
        ASSERT_TRUE(
            world.wait(world.client.remove(jobs::kScalePlans, "default", "demo-plan")).has_value());
    };
    world.run_for(1min);
    remove();
    world.settle();
    EXPECT_TRUE(plan().has_value());
    remove();
    world.settle();
    EXPECT_FALSE(plan().has_value()) << "who deletes it each time is not raced";
    world.run_for(30s);
    EXPECT_TRUE(plan().has_value());
}

TEST_F(OwnPlan, UsersGoFirstAndTheirEndedPlansDoNotPushItOut) {
    its.run_job(1);
    for (int i = 0; i < 12; ++i) {
        its.plan(fmt::format("p{:02}", i), workers(2));
        world.settle();
        its.run_all();
        world.run_for(1s);
    }
    wish(R"("excludedNodes": [{"node": "n1"}])");
    its.run_all();
    its.plan("last", workers(1));
    world.settle();
    its.run_all();
    EXPECT_EQ(its.told("last"), "Succeeded");
    EXPECT_EQ(its.told("demo-plan"), "Succeeded");
    EXPECT_EQ(its.told("p00"), "gone");
    world.stop_operator();
    wish(R"("migratePods": [{"type": "worker", "id": 0}])");
    its.plan("first", workers(3));
    world.start_operator();
    world.settle();
    its.run_all();
    ASSERT_GE(its.executed.size(), 2u);
    const std::string uid(plan()->at_pointer("/metadata/uid").as_string());
    EXPECT_EQ(its.executed.back(), std::pair(uid, std::int64_t{3}));
    EXPECT_NE(its.executed.at(its.executed.size() - 2).first, uid) << "the user's went first";
}

TEST_F(OwnPlan, APodMovesAndNoNewOneIsPlacedThereUntilTheTime) {
    its.run_job(2);
    const std::string until = kube::format_time(world.clock.wall_now() + 10min);
    wish(R"("excludedNodes": [{"node": "n1", "until": ")" + until +
         R"("}], "migratePods": [{"name": "demo-edljob-worker-1"}],
             "sparePods": [{"name": "demo-edljob-worker-0"}])");
    EXPECT_THAT(its.workers(), ElementsAre(0, 1, 2));
    EXPECT_EQ(affinity(its.worker(2)),
              R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
              R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname",)"
              R"("operator":"NotIn","values":["n1"]}]}]}}})");
    EXPECT_EQ(affinity(its.worker(0)), "");
    its.run_all();
    EXPECT_EQ(its.told("demo-plan"), "Succeeded");
    EXPECT_THAT(its.workers(), ElementsAre(0, 2));
    const jobs::JobStatus status = its.status();
    EXPECT_THAT(status.plan->excluded_nodes,
                ElementsAre(jobs::ExcludedNode{.node = "n1", .until = until}));
    EXPECT_EQ(status.plan->spares.at("worker"), "0");
    EXPECT_THAT(world.events("demo"),
                Contains(fmt::format("JobNodesExcluded: No new pod of the job is placed on these "
                                     "nodes: n1 (until {}).",
                                     until)));
    // Every pod of the job, also the master's.
    world.set_phase("elasticjob-demo-dlrover-master-0", "Failed", 137);
    world.settle();
    world.outlast_pause();
    EXPECT_THAT(affinity("elasticjob-demo-dlrover-master-1"), HasSubstr(R"("n1")"));
    its.run_all();
    world.run_for(10min);
    its.plan("more", workers(3));
    world.settle();
    EXPECT_EQ(affinity(its.worker(3)), "");
    its.run_all();
    // The spare leaves first, whoever asks for fewer.
    its.edit(elastic().resource, "demo", [](json::object& spec) {
        spec.at("replicaSpecs").at("worker").as_object()["replicas"] = 1;
    });
    world.settle();
    EXPECT_THAT(its.workers(), ElementsAre(2));
}

class OwnPlanOnOneMachine : public OwnPlan {
  protected:
    OwnPlanOnOneMachine() : OwnPlan(kOneMachine) {}
};

TEST_F(OwnPlanOnOneMachine, NoNodeIsLeftOutAndThatIsTold) {
    its.run_job(2);
    wish(R"("excludedNodes": [{"node": "localhost"}],
            "migratePods": [{"type": "worker", "id": 1}])");
    its.run_all();
    EXPECT_EQ(its.told("demo-plan"),
              "Succeeded: excludedNodes has no effect on one machine, which has no other node");
    EXPECT_THAT(its.workers(), ElementsAre(0, 2));
    EXPECT_EQ(affinity(its.worker(2)), "");
    EXPECT_THAT(its.status().plan->excluded_nodes, IsEmpty());
    EXPECT_THAT(world.events("demo"), Not(Contains(HasSubstr("NodesExcluded"))));
}

class OwnPlanOnceDefined : public OwnPlan {
  protected:
    OwnPlanOnceDefined() : OwnPlan(kCluster, false) {}
};

TEST_F(OwnPlanOnceDefined, AJobNeedsNoPlan) {
    its.run_job(2);
    EXPECT_THAT(its.workers(), SizeIs(2));
    EXPECT_THAT(world.events("demo"), Not(Contains(HasSubstr("Failed"))));
    its.define_plans();
    world.run_for(2min);
    EXPECT_TRUE(plan().has_value());
}

}  // namespace
}  // namespace muster::operators::operator_own_plan_test
