#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include "operator/internal/planning/planner.h"
#include "operator/internal/world_fixture.h"

namespace muster::operators {
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

// --- many replicas, many jobs

/// What reaches the API, in its order.
class BusyTest : public ScaleTest {
  protected:
    BusyTest() {
        world.transport.before_write = [this](const kube::Request& request) {
            if (request.path.find("/events") != std::string::npos) return;
            ++requests;
            if (on_request) on_request(request);
        };
    }
    void create_soon(JobSketch sketch) {
        auto create = [](World& w, JobSketch wanted) -> Task<void> {
            auto made = co_await w.client.create(pytorch().resource, "default",
                                                 json::value(job_object(wanted)));
            EXPECT_TRUE(made.has_value());
        };
        asio::co_spawn(world.context, create(world, std::move(sketch)), [](std::exception_ptr) {});
    }
    static bool makes_pod(const kube::Request& request, std::string_view name) {
        return request.method == kube::Method::kPost && request.path.ends_with("/pods") &&
               request.body->at("metadata").at("name").as_string() == name;
    }
    static bool says(const kube::Request& request, std::string_view condition) {
        if (!request.path.ends_with("/status")) return false;
        const json::array& all = request.body->at("status").at("conditions").as_array();
        return std::string_view(all.back().at("type").as_string()) == condition;
    }

    int requests = 0;
    std::function<void(const kube::Request&)> on_request;
};

// With the Go operator a job of one pod that came a second after one of 1,000 waited for 98.8 s.
TEST_F(BusyTest, ASmallJobDoesNotWaitForALargeOne) {
    int created = 0;
    int served = 0;
    on_request = [&](const kube::Request& request) {
        if (requests == 100) {
            created = requests;
            create_soon({.name = "small", .workers = -1});
        }
        if (makes_pod(request, "small-master-0")) served = requests;
    };
    world.transport.longest_delay = 5ms;
    world.create_job({.workers = 1'000});
    world.run_for(2s);
    EXPECT_EQ(created, 100);
    EXPECT_GT(served, 0);
    EXPECT_LE(served - created, 3 * 32) << "the requests that were in flight, and a few";
    EXPECT_THAT(world.pods(), SizeIs(1'002));
}

// Nor for more than there are workers: a reconciliation ends soon when others wait for their turn.
TEST_F(BusyTest, ASmallJobDoesNotWaitForManyLargeOnes) {
    Instant created;
    std::optional<Duration> waited;
    on_request = [&](const kube::Request& request) {
        if (requests == 500) {
            created = world.clock.now();
            create_soon({.name = "small", .workers = -1});
        }
        if (makes_pod(request, "small-master-0")) waited = world.clock.now() - created;
    };
    world.transport.longest_delay = 50ms;
    for (int i = 0; i < 6; ++i)
        world.create_job({.name = fmt::format("large-{}", i), .workers = 400});
    world.run_for(1min);
    ASSERT_TRUE(waited);
    EXPECT_LE(*waited, 500ms) << "a look at each reconciliation that lasts, and what was in flight";
    EXPECT_GT(requests, 2 * 6 * 400);
}

// The Go operator reported it 50 s after all pods ran, as it writes the status last.
TEST_F(BusyTest, RunningIsToldWhileOtherPodsAreStillMade) {
    Instant ran;
    std::optional<Duration> late;
    int told = 0;
    int last_pod = 0;
    auto run_master = [&ran](World& w) -> Task<void> {
        json::object binding{{"apiVersion", "v1"},
                             {"kind", "Binding"},
                             {"metadata", json::object{{"name", "demo-master-0"}}},
                             {"target", json::object{{"kind", "Node"}, {"name", "node-1"}}}};
        auto bound = co_await w.client.create_subresource(
            kube::types::kPods, "default", "demo-master-0", "binding", std::move(binding));
        EXPECT_TRUE(bound.has_value());
        json::object status{{"status", json::object{{"phase", "Running"}}}};
        auto patched =
            co_await w.client.patch(kube::types::kPods, "default", "demo-master-0",
                                    kube::ContentType::kMergePatch, std::move(status), "status");
        EXPECT_TRUE(patched.has_value());
        ran = w.clock.now();
    };
    on_request = [&](const kube::Request& request) {
        if (requests == 100)
            asio::co_spawn(world.context, run_master(world), [](std::exception_ptr) {});
        if (told == 0 && says(request, "Running")) {
            told = requests;
            late = world.clock.now() - ran;
        }
        if (request.path.ends_with("/pods")) last_pod = requests;
    };
    world.transport.longest_delay = 50ms;
    world.create_job({.workers = 1'000});
    world.run_for(10s);
    ASSERT_TRUE(late);
    EXPECT_LE(*late, 200ms);
    EXPECT_LT(told, last_pod - 500);
}

// SIGTERM in the middle of its work ends the Go operator in a panic.
TEST_F(BusyTest, AnOperatorMayStopInTheMiddleOfItsWork) {
    world.transport.longest_delay = 5ms;
    world.create_job({.workers = 300});
    for (int stop = 0; stop < 5; ++stop) {
        world.run_for(7ms);
        world.stop_operator();
        EXPECT_LT(world.pods().size(), 301u);
        const int before = requests;
        world.run_for(1s);
        EXPECT_EQ(requests, before) << "nothing is sent after its end";
        world.start_operator();
    }
    world.transport.longest_delay = {};
    world.run_for(1min);
    EXPECT_THAT(world.pods(), SizeIs(301));
    EXPECT_THAT(world.services(), SizeIs(301));
}

TEST_F(BusyTest, AnOperatorMayStopBeforeItHasBegun) {
    world.create_job({});
    world.restart_operator();
    world.restart_operator();
    world.settle();
    EXPECT_THAT(world.pods(), SizeIs(3));
}

}  // namespace
}  // namespace muster::operators
