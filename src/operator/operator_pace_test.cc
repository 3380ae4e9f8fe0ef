#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/world_fixture.h"

// What goes first, and how soon.

namespace muster::operators::operator_pace_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class PaceTest : public ::testing::Test {
  protected:
    void note_writes() {
        world.transport.before_write = [this](const kube::Request& request) {
            if (request.path.find("/events") == std::string::npos) writes.push_back(request.path);
        };
    }

    World world;
    std::vector<std::string> writes;
};

TEST_F(PaceTest, ThePodsOfANewJobGoBeforeItsStatus) {
    note_writes();
    world.start_operator();
    world.create_job({.workers = 1});
    world.settle();
    ASSERT_THAT(writes, SizeIs(5));
    EXPECT_THAT(writes.back(), HasSubstr("demo/status"));
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created"));
}

TEST_F(PaceTest, TheStatusOfAJobWhosePodsCantBeMadeWaitsOnce) {
    world.transport.failure_probability = 1;
    note_writes();
    world.start_operator();
    world.create_job({.workers = 1});
    world.settle();
    EXPECT_THAT(writes, testing::Contains(HasSubstr("demo/status")));
}

TEST_F(PaceTest, TheStatusOfALargeJobGoesBesideItsPods) {
    note_writes();
    world.start_operator();
    world.create_job({.workers = 50});
    world.settle();
    ASSERT_THAT(world.pods(), SizeIs(51));
    EXPECT_THAT(writes.front(), HasSubstr("demo/status"));
}

TEST_F(PaceTest, JobsThatCameTogetherHaveTheirPodsBeforeAnyIsTold) {
    note_writes();
    for (int i = 0; i < 8; ++i)
        world.create_job({.name = "job-" + std::to_string(i), .workers = 0});
    world.start_operator();
    world.settle();
    ASSERT_THAT(writes, SizeIs(8 * 3));
    const auto told = std::ranges::find_if(
        writes, [](const std::string& path) { return path.ends_with("/status"); });
    EXPECT_EQ(told - writes.begin(), 16);
}

TEST_F(PaceTest, PodsOfANewJobGoBeforeNewsOfOldOnes) {
    for (int i = 0; i < 12; ++i)
        world.create_job({.name = "old-" + std::to_string(i), .workers = 0});
    world.start_operator();
    world.settle();
    ASSERT_THAT(world.pods(), SizeIs(12));
    world.transport.longest_delay = 1s;
    world.set_all("Running");
    world.create_job({.name = "new", .workers = 0});
    note_writes();
    world.run_for(30s);
    ASSERT_THAT(writes, SizeIs(testing::Ge(4u)));
    EXPECT_THAT(writes.front(), HasSubstr("/pods"));
    EXPECT_TRUE(world.status("old-11").is("Running"));
}

// Its own back-off is at a minute by then.
TEST_F(PaceTest, WhatFailedWhileTheServerWasAwayGoesOnWhenItIsBack) {
    world.start_operator();
    world.transport.writes_left = 0;
    world.create_job({.name = "early", .workers = 0});
    world.run_for(20s);
    world.create_job({.name = "late", .workers = 0});
    world.run_for(125s);
    ASSERT_THAT(world.pods(), IsEmpty());
    world.transport.writes_left.reset();
    for (int i = 0; i < 700 && world.pods().empty(); ++i) world.run_for(100ms);
    world.settle();
    EXPECT_THAT(world.pods(), ElementsAre("early-master-0", "late-master-0"));
}

}  // namespace
}  // namespace muster::operators::operator_pace_test
