#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/integration_fixture.h"
#include "operator/internal/world_fixture.h"

// An operator dies after each number of writes, and another one continues.

namespace muster::operators::operator_crash_test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::chrono_literals;
using enum IntegrationType;

class CrashAfter : public ::testing::TestWithParam<bool> {
  protected:
    static constexpr int kMost = 8;
};

TEST_P(CrashAfter, AnyWriteARestartCountsOnce) {
    const bool with_deletion = GetParam();
    for (int crash = 0; crash <= kMost; ++crash) {
        SCOPED_TRACE(fmt::format("crash after {} writes", crash));
        World world;
        world.start_operator();
        world.run_job({.workers = 2, .policy = "ExitCode", .backoff_limit = 100});
        for (int restarts = 1; restarts <= 3; ++restarts) {
            world.transport.writes_left = crash;
            if (with_deletion)
                world.delete_pod("demo-worker-1");
            else
                world.set_phase("demo-worker-1", "Failed", 137);
            world.settle();
            world.stop_operator();
            world.transport.writes_left.reset();
            world.start_operator();
            world.settle();
            world.reap();
            world.outlast_pause();
            world.set_all("Running");
            world.settle();
            EXPECT_EQ(world.restarts("demo"), restarts);
            EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Both, CrashAfter, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "PodDeleted" : "PodFailed"; });

// Between the status that says a new generation and the deletions, and at every other write.
TEST(GroupCrash, AfterAnyWriteAGroupRestartsOnce) {
    for (int crash = 0; crash <= 10; ++crash) {
        SCOPED_TRACE(fmt::format("crash after {} writes", crash));
        World world;
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
            EXPECT_THAT(world.pods(), SizeIs(3));
            for (const std::string& pod : world.pods())
                EXPECT_EQ(world.annotation(pod, "muster.dev/generation"),
                          fmt::format("{}", generation))
                    << pod;
            EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
        }
    }
}

TEST(GangOfVolcano, AnOperatorMayDieBetweenAnyTwoRequests) {
    for (int alive = 0; alive <= 10; ++alive) {
        SCOPED_TRACE(alive);
        IntegrationWorld world("volcano", 1 + static_cast<std::uint64_t>(alive));
        world.define(kVolcano);
        world.w.start_operator();
        world.w.transport.writes_left = alive;
        world.create(job_object({}));
        if (world.object(kVolcano)) world.set_group_phase("Inqueue");
        world.w.transport.writes_left.reset();
        world.w.restart_operator();
        world.w.settle();
        EXPECT_THAT(world.writes, SizeIs(::testing::Le(alive == 0 ? 2U : 1U)));
        world.set_group_phase("Inqueue");
        EXPECT_THAT(world.w.pods(), SizeIs(3));
        world.w.transport.writes_left = alive;
        world.w.set_phase("demo-master-0", "Succeeded", 0);
        world.w.settle();
        world.w.transport.writes_left.reset();
        world.w.restart_operator();
        world.w.settle();
        EXPECT_FALSE(world.object(kVolcano).has_value());
        EXPECT_TRUE(world.w.status("demo").is("Succeeded"));
    }
}

}  // namespace
}  // namespace muster::operators::operator_crash_test
