#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/world_fixture.h"

// An operator dies after each number of writes, and another one continues: a kind whose ids rise.

namespace muster::operators::operator_rising_crash_test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class RisingCrash : public ::testing::TestWithParam<bool> {
  protected:
    static constexpr int kMost = 9;

    void end(World& world, const std::string& pod) {
        const bool with_deletion = GetParam();
        if (with_deletion)
            world.delete_pod(pod);
        else
            world.set_phase(pod, "Failed", 137);
    }
};

TEST_P(RisingCrash, AfterAnyWriteARankHasOnePodAndARestartCountsOnce) {
    for (int crash = 0; crash <= kMost; ++crash) {
        SCOPED_TRACE(fmt::format("crash after {} writes", crash));
        World world(1, {.namespace_ = {}, .more_kinds = {&rising()}});
        world.start_operator();
        world.run_job({.workers = 3, .policy = "ExitCode", .backoff_limit = 100});
        std::int32_t next = 3;
        for (int restarts = 1; restarts <= 3; ++restarts) {
            world.transport.writes_left = crash;
            ASSERT_THAT(world.workers_of_rank(1), SizeIs(1));
            end(world, world.workers_of_rank(1).front());
            world.settle();
            world.stop_operator();
            for (std::int32_t rank = 0; rank < 3; ++rank)
                EXPECT_THAT(world.workers_of_rank(rank), SizeIs(::testing::Le(2u)))
                    << "the one that failed, and the next";
            world.transport.writes_left.reset();
            world.start_operator();
            world.settle();
            world.reap();
            world.outlast_pause();
            world.set_all("Running");
            world.settle();
            EXPECT_EQ(world.restarts("demo"), restarts);
            for (std::int32_t rank = 0; rank < 3; ++rank) {
                const auto pods = world.workers_of_rank(rank);
                ASSERT_THAT(pods, SizeIs(1)) << rank;
                EXPECT_EQ(world.annotation(pods.front(), "muster.dev/restarts"),
                          rank == 1 ? std::to_string(restarts) : "");
            }
            const jobs::ReplicaMembers members = world.status("demo").members["Worker"];
            EXPECT_GE(members.next, next);
            EXPECT_LE(members.next, next + 1) << "one failure, one new name";
            next = members.next;
            EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Both, RisingCrash, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "PodDeleted" : "PodFailed"; });

// Two ranks fail while it dies: neither gets what the other one has cost.
TEST(RisingCrashOfTwo, EachRankKeepsItsCount) {
    for (int crash = 0; crash <= 9; ++crash) {
        SCOPED_TRACE(fmt::format("crash after {} writes", crash));
        World world(1, {.namespace_ = {}, .more_kinds = {&rising()}});
        world.start_operator();
        world.run_job({.masters = -1, .workers = 3, .policy = "ExitCode", .backoff_limit = 100});
        world.set_phase("demo-worker-2", "Failed", 137);
        world.settle();
        world.reap();
        world.set_all("Running");
        world.run_for(20min);
        ASSERT_THAT(world.workers_of_rank(2), ElementsAre("demo-worker-3"));
        world.transport.writes_left = crash;
        world.set_phase("demo-worker-0", "Failed", 137);
        world.set_phase("demo-worker-3", "Failed", 137);
        world.settle();
        world.stop_operator();
        world.transport.writes_left.reset();
        world.start_operator();
        world.settle();
        world.reap();
        world.outlast_pause();
        world.set_all("Running");
        world.settle();
        EXPECT_EQ(world.restarts("demo"), 3);
        const std::vector<std::string> counts{"1", "", "2"};
        for (std::int32_t rank = 0; rank < 3; ++rank) {
            const auto pods = world.workers_of_rank(rank);
            ASSERT_THAT(pods, SizeIs(1)) << rank;
            EXPECT_EQ(world.annotation(pods.front(), "muster.dev/restarts"),
                      counts[static_cast<std::size_t>(rank)])
                << rank;
        }
        EXPECT_EQ(world.status("demo").members["Worker"].next, 6);
    }
}

TEST(RisingGroupCrash, AfterAnyWriteAGroupRestartsOnceAndKeepsItsIds) {
    for (int crash = 0; crash <= 10; ++crash) {
        SCOPED_TRACE(fmt::format("crash after {} writes", crash));
        World world(1, {.namespace_ = {}, .more_kinds = {&rising()}});
        world.start_operator();
        world.run_job({.backoff_limit = 100, .group = true});
        for (int generation = 1; generation <= 3; ++generation) {
            world.transport.writes_left = crash;
            world.set_phase("demo-worker-1", "Failed", 1);
            world.settle();
            world.stop_operator();
            world.reap();
            world.transport.writes_left.reset();
            world.start_operator();
            world.settle();
            world.reap();
            world.run_for(5min);
            world.set_all("Running");
            world.settle();
            EXPECT_EQ(world.status("demo").restart_generation, generation);
            EXPECT_THAT(world.pods(),
                        ElementsAre("demo-master-0", "demo-worker-0", "demo-worker-1"));
            EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
        }
    }
}

TEST(RisingScaleCrash, AfterAnyWriteThereAreAsManyAsWantedAndNoNameComesBack) {
    for (int crash = 0; crash <= 12; ++crash) {
        SCOPED_TRACE(fmt::format("crash after {} writes", crash));
        World world(1, {.namespace_ = {}, .more_kinds = {&rising()}});
        world.start_operator();
        world.run_job({.masters = -1, .workers = 2});
        std::int32_t highest = 1;
        for (const int wanted : {4, 1, 3, 5}) {
            world.transport.writes_left = crash;
            world.scale_workers("demo", wanted);
            world.settle();
            world.stop_operator();
            world.transport.writes_left.reset();
            world.start_operator();
            world.settle();
            world.reap();
            world.run_for(1min);
            world.reap();
            world.set_all("Running");
            world.settle();
            EXPECT_THAT(world.pods(), SizeIs(wanted));
            for (std::int32_t rank = 0; rank < wanted; ++rank)
                EXPECT_THAT(world.workers_of_rank(rank), SizeIs(1)) << rank;
            EXPECT_GE(world.status("demo").members["Worker"].next, highest + 1);
            highest = world.status("demo").members["Worker"].next - 1;
            EXPECT_EQ(world.restarts("demo"), 0);
        }
        EXPECT_EQ(highest, 1 + 2 + 2 + 2);
    }
}

}  // namespace
}  // namespace muster::operators::operator_rising_crash_test
