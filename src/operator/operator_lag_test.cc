#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/world_fixture.h"

namespace muster::operators::operator_lag_test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::chrono_literals;

/// The watch of jobs is five seconds behind: what the operator did itself it knows from the
/// answers.
class LagTest : public ::testing::Test {
  protected:
    LagTest() {
        world.transport.watch_lag = [](const kube::Request& request) -> Duration {
            return request.path.ends_with("/pytorchjobs") ? 5s : 0s;
        };
        world.start_operator();
    }

    World world;
};

TEST_F(LagTest, AStatusOfOursCountsFromItsAnswerOn) {
    world.create_job({});
    world.run_for(6s);
    ASSERT_THAT(world.pods(), SizeIs(3));
    world.set_all("Running");
    world.run_for(1s);
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
    world.set_phase("demo-worker-0", "Failed");
    world.run_for(1s);
    world.set_phase("demo-worker-0", "Running");
    world.run_for(1s);
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
    EXPECT_EQ(world.restarts("demo"), 1);
    EXPECT_EQ(world.transport.conflicts, 0);
}

TEST_F(LagTest, AJobThatWasJustSuspendedDoesNotExpire) {
    world.create_job({.ttl_seconds = 10});
    world.run_for(6s);
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.run_for(9s);
    world.suspend_job("demo", true);
    world.run_for(1h);
    EXPECT_TRUE(world.object(pytorch().resource, "demo").has_value());
    world.suspend_job("demo", false);
    world.run_for(10s);
    EXPECT_FALSE(world.object(pytorch().resource, "demo").has_value());
}

TEST_F(LagTest, AJobThatExpiredIsDeletedOnce) {
    int deletions = 0;
    world.transport.before_write = [&](const kube::Request& request) {
        if (request.method == kube::Method::kDelete && request.path.ends_with("jobs/demo"))
            ++deletions;
    };
    world.create_job({.ttl_seconds = 1});
    world.run_for(6s);
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.run_for(3s);
    ASSERT_FALSE(world.object(pytorch().resource, "demo").has_value());
    // Its pods go with it, which wakes the operator while its watch still shows the job.
    world.run_for(1min);
    EXPECT_EQ(deletions, 1);
}

}  // namespace
}  // namespace muster::operators::operator_lag_test
