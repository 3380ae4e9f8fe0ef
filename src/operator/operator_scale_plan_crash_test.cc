#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "operator/internal/members/members.h"
#include "operator/internal/scaling/scale_world.h"

// An operator dies after each number of writes while a ScalePlan is executed, and another one
// continues; and random plans with random faults.

namespace muster::operators::operator_scale_plan_crash_test {
namespace {

using ::testing::SizeIs;
using namespace std::chrono_literals;

/// The ids of the workers that are wanted, and the number that the next one gets.
std::pair<std::string, int> members(ScaleWorld& its) {
    const jobs::ReplicaMembers workers = its.status().members["worker"];
    return {workers.ids, workers.next};
}

/// The operator has no more writes than were left; the next one has all, and its pods run.
void crash_and_continue(ScaleWorld& its) {
    its.world.settle();
    its.world.stop_operator();
    its.world.transport.writes_left.reset();
    its.world.start_operator();
    its.world.run_for(1min);
    its.run_all();
}

TEST(ScalePlanCrash, AfterAnyWriteAPlanIsExecutedOnce) {
    struct Row {
        std::string plan;
        std::string ids;
        int next;
    };
    for (const Row& row : std::vector<Row>{
             {workers(5), "0-4", 5},
             {workers(1), "0", 3},
             {R"("removePods": [{"type": "worker", "id": 1}], )" + workers(3), "0,2-3", 4},
             {R"("migratePods": [{"type": "worker", "id": 0}, {"type": "worker", "id": 2}])",
              "1,3-4", 5},
             {R"("migratePods": [{"type": "worker", "id": 0}],
                 "removePods": [{"type": "worker", "id": 1}],
                 "createPods": [{"type": "worker"}, {"type": "worker"}])",
              "2-5", 6},
         })
        for (int crash = 0; crash <= 10; ++crash) {
            SCOPED_TRACE(fmt::format("{}; crash after {} writes", row.plan, crash));
            ScaleWorld its;
            its.run_job(3);
            its.world.transport.writes_left = crash;
            its.plan("p", row.plan);
            crash_and_continue(its);
            its.world.run_for(1min);
            EXPECT_EQ(members(its), std::pair(row.ids, row.next));
            EXPECT_EQ(its.told("p"), "Succeeded");
            EXPECT_THAT(its.executed, SizeIs(1));
            EXPECT_EQ(its.status().replica_statuses["worker"].restarts, std::nullopt);
        }
}

TEST(ScalePlanCrash, AfterAnyWriteResourcesOfOnePodAreWhatThePlanSays) {
    for (int crash = 0; crash <= 8; ++crash) {
        SCOPED_TRACE(fmt::format("crash after {} writes", crash));
        ScaleWorld its;
        its.run_job(2);
        its.world.transport.writes_left = crash;
        its.plan("p", R"("migratePods": [{"type": "worker", "id": 1, "resource": {"cpu": "3"}}])");
        crash_and_continue(its);
        EXPECT_EQ(its.told("p"), "Succeeded");
        EXPECT_EQ(its.requested(its.worker(0), "cpu"), "1");
        EXPECT_EQ(its.requested(its.worker(2), "cpu"), "3");
    }
}

/// Two parameter servers and a chief, all with a GiB.
void run_servers(ScaleWorld& its) {
    const auto type = [](const std::string& name, int replicas) {
        return fmt::format(R"("{}": {{"replicas": {}, "template": {{"spec": {{"containers": [
            {{"name": "main", "image": "x", "command": ["train"],
              "resources": {{"limits": {{"memory": "1Gi"}}}}}}]}}}}}})",
                           name, replicas);
    };
    its.create(elastic().resource, elastic_object(type("ps", 2) + "," + type("chief", 1)));
    its.world.settle();
    its.run_all();
}

TEST(OutOfMemoryCrash, AfterAnyWriteOneFailureIsAnsweredOnce) {
    constexpr int kOutOfMemory = 247;
    for (int crash = 0; crash <= 8; ++crash) {
        SCOPED_TRACE(fmt::format("crash after {} writes", crash));
        ScaleWorld its;
        run_servers(its);
        its.world.transport.writes_left = crash;
        its.world.set_phase("demo-edljob-ps-1", "Failed", kOutOfMemory);
        crash_and_continue(its);
        const jobs::ReplicaMembers servers = its.status().members["ps"];
        EXPECT_EQ(servers.ids, "0,2");
        ASSERT_TRUE(servers.resources.contains("1"));
        EXPECT_EQ(servers.resources.at("1").resource.at("memory"), json::value("2Gi"));
        EXPECT_EQ(its.requested("demo-edljob-ps-2", "memory"), "2Gi");
        EXPECT_EQ(its.status().replica_statuses["ps"].restarts, 1);
    }
}

/// Of a master: its object is there already, and gets another generation.
TEST(ScalePlanCrash, AfterAnyWriteAWishIsExecutedOnce) {
    for (int crash = 0; crash <= 10; ++crash) {
        SCOPED_TRACE(fmt::format("crash after {} writes", crash));
        ScaleWorld its(true, 1,
                       {.program_image = "muster:1", .cluster = true, .pods_reach_api = true});
        its.run_job(3);
        its.world.transport.writes_left = crash;
        its.edit(jobs::kScalePlans, "demo-plan", [](json::object& spec) {
            spec["excludedNodes"] = json::parse(R"([{"node": "n1"}])");
            spec["migratePods"] = json::parse(R"([{"type": "worker", "id": 1}])");
            spec["sparePods"] = json::parse(R"([{"type": "worker", "id": 0}])");
        });
        crash_and_continue(its);
        its.world.run_for(1min);
        EXPECT_EQ(members(its), std::pair(std::string("0,2-3"), 4));
        EXPECT_EQ(its.told("demo-plan"), "Succeeded");
        EXPECT_THAT(its.executed, SizeIs(1));
        EXPECT_THAT(its.status().plan->excluded_nodes, SizeIs(1));
        EXPECT_EQ(its.status().plan->spares["worker"], "0");
        const json::value moved = its.world.object(kube::types::kPods, its.worker(3)).value();
        EXPECT_TRUE(moved.at("spec").as_object().contains("affinity"))
            << "whoever makes it knows that n1 is left out";
    }
}

/// Plans, edits, failures and deaths of the operator as a seed has them.
class RandomPlans {
  public:
    explicit RandomPlans(std::uint64_t seed) : rng_(seed), its_(true, seed) {}

    void live() {
        its_.run_job(3);
        its_.world.transport.failure_probability = 0.1;
        for (int step = 0; step < 25; ++step) {
            SCOPED_TRACE(fmt::format("step {}", step));
            act();
            its_.world.run_for(std::chrono::milliseconds(rng_.below(400)));
            check();
        }
        its_.world.transport.failure_probability = 0;
        for (int i = 0; i < 12; ++i) {
            its_.world.outlast_pause();
            its_.run_all();
        }
        check();
        check_end();
    }

  private:
    void act() {
        switch (rng_.below(6)) {
            case 0:
                return plan(workers(static_cast<int>(rng_.below(6))));
            case 1:
                return plan(fmt::format(R"("removePods": [{{"type": "worker", "id": {}}}])",
                                        rng_.below(8)));
            case 2:
                return plan(fmt::format(R"("migratePods": [{{"type": "worker", "id": {}}}])",
                                        rng_.below(8)));
            case 3:
                return its_.edit(elastic().resource, "demo", [&](json::object& spec) {
                    spec.at("replicaSpecs").at("worker").as_object()["replicas"] =
                        rng_.below(4) + 1;
                });
            case 4:
                return its_.world.restart_operator();
            default:
                return pods();
        }
    }
    void plan(const std::string& spec) {
        its_.plan(fmt::format("p{:02}", plans_++), spec, rng_.chance(0.3) ? "auto" : "manual");
    }
    void pods() {
        its_.world.reap();
        for (const std::string& pod : its_.world.pods())
            if (rng_.chance(0.7))
                its_.run(pod, rng_.chance(0.8));
            else if (pod.contains("-worker-") && rng_.chance(0.2) && its_.has(pod))
                its_.world.set_phase(pod, "Failed", 137);
    }

    /// No plan twice; two live ids of a rank only while one takes over.
    void check() {
        const std::set<std::pair<std::string, std::int64_t>> once(its_.executed.begin(),
                                                                  its_.executed.end());
        EXPECT_EQ(once.size(), its_.executed.size()) << "a plan was executed again";
        const Members now = Members::read(its_.status().members["worker"]);
        EXPECT_GE(now.next(), next_);
        next_ = now.next();
        std::map<std::int32_t, int> of_rank;
        for (auto id = now.ids().next(0); id >= 0; id = now.ids().next(id + 1))
            ++of_rank[now.rank_of(id)];
        for (const auto& [rank, number] : of_rank) EXPECT_LE(number, 2) << rank;
        EXPECT_EQ(of_rank.size(), static_cast<std::size_t>(now.size()));
    }
    /// Every plan has ended, or waits for a job that has ended.
    void check_end() {
        for (int i = 0; i < plans_; ++i) {
            const std::string told = its_.told(fmt::format("p{:02}", i));
            EXPECT_TRUE(told == "Succeeded" || told == "gone" || told.starts_with("Failed: "))
                << i << ": " << told;
        }
        const jobs::JobStatus status = its_.status();
        if (status.finished()) return;
        EXPECT_TRUE(Members::read(status.members.at("worker")).takeovers().empty());
        EXPECT_EQ(its_.workers().size(),
                  static_cast<std::size_t>(Members::read(status.members.at("worker")).size()));
    }

    Rng rng_;
    ScaleWorld its_;
    int plans_ = 0;
    std::int32_t next_ = 0;
};

class RandomScalePlans : public ::testing::TestWithParam<int> {};

TEST_P(RandomScalePlans, EachIsExecutedOnceAndRanksStayWhole) {
    RandomPlans(static_cast<std::uint64_t>(GetParam())).live();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomScalePlans, ::testing::Range(1, 9));

}  // namespace
}  // namespace muster::operators::operator_scale_plan_crash_test
