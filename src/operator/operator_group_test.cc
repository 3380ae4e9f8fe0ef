#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "operator/internal/planning/limits.h"
#include "operator/internal/world_fixture.h"

namespace muster::operators::operator_group_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;
using namespace std::chrono_literals;

/// A job whose pods restart together: otherwise one failure leaves its peers waiting without end
/// (issues 2269, 2000, 2185).
class GroupTest : public ::testing::Test {
  protected:
    GroupTest() { world.start_operator(); }

    std::int32_t generation() { return world.status("demo").restart_generation.value_or(0); }
    std::vector<std::string> generations() {
        std::vector<std::string> all;
        for (const std::string& pod : world.pods())
            all.push_back(world.annotation(pod, "muster.dev/generation"));
        return all;
    }
    void finish_restart() {
        world.settle();
        world.reap();
        world.run_for(5min);  // the longest pause
        world.set_all("Running");
        world.settle();
    }
    void expect_running(std::int32_t generation) {
        EXPECT_EQ(this->generation(), generation);
        EXPECT_THAT(world.pods(), SizeIs(3));
        EXPECT_THAT(generations(), Each(fmt::format("{}", generation)));
        EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
        EXPECT_EQ(world.restarts("demo"), 0) << "the group restarts, not its members";
    }

    World world;
};

struct FailureRow {
    std::string name;
    std::string policy;
    std::string how;
    std::optional<std::int32_t> exit_code = std::nullopt;
};
class OneFailure : public GroupTest, public ::testing::WithParamInterface<FailureRow> {};

TEST_P(OneFailure, RestartsAllAsOneGeneration) {
    world.run_job({.policy = GetParam().policy, .group = true});
    EXPECT_THAT(generations(), Each(""));
    if (GetParam().how == "fails")
        world.set_phase("demo-worker-1", "Failed", GetParam().exit_code);
    else if (GetParam().how == "deleted")
        world.delete_pod("demo-worker-1");
    else
        world.force_delete_pod("demo-worker-1");
    world.settle();
    EXPECT_EQ(generation(), 1);
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Restarting"));
    EXPECT_THAT(world.events("demo"), Contains(HasSubstr("restart together (restart 1")));
    finish_restart();
    expect_running(1);
    world.run_for(1h);
    expect_running(1);
}

INSTANTIATE_TEST_SUITE_P(Failures, OneFailure,
                         ::testing::Values(FailureRow{"OnFailure1", "OnFailure", "fails", 1},
                                           FailureRow{"Evicted", "OnFailure", "fails"},
                                           FailureRow{"Always1", "Always", "fails", 1},
                                           FailureRow{"ExitCode137", "ExitCode", "fails", 137},
                                           FailureRow{"Deleted", "OnFailure", "deleted"},
                                           FailureRow{"DeletedUnderNever", "Never", "deleted"},
                                           FailureRow{"ForceDeleted", "OnFailure", "forced"}),
                         [](const auto& info) { return info.param.name; });

class FinalFailure : public GroupTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(FinalFailure, EndsAGroupToo) {
    world.run_job({.policy = GetParam(), .group = true});
    world.set_phase("demo-worker-1", "Failed", 1);
    world.settle();
    EXPECT_TRUE(world.status("demo").is("Failed"));
    EXPECT_EQ(generation(), 0);
    EXPECT_THAT(world.pods(), SizeIs(3));
}

INSTANTIATE_TEST_SUITE_P(Policies, FinalFailure, ::testing::Values("Never", "ExitCode"),
                         [](const auto& info) { return info.param; });

// The new ones would find their old peers.
TEST_F(GroupTest, NoPodIsMadeWhileAnOldOneIsThere) {
    world.run_job({.group = true});
    std::vector<std::string> old;
    for (const std::string& pod : world.pods()) old.push_back(world.uid(pod));
    world.set_phase("demo-worker-1", "Failed", 1);
    world.run_for(10s);
    for (const std::string& pod : {"demo-master-0", "demo-worker-0"}) {
        const std::vector<std::string> left = world.pods();
        EXPECT_THAT(left, Contains(pod));
        for (const std::string& other : left) EXPECT_THAT(old, Contains(world.uid(other)));
        EXPECT_THAT(left, ::testing::Not(Contains("demo-worker-1")));
        world.force_delete_pod(pod);
        world.run_for(10s);
    }
    EXPECT_THAT(world.pods(), SizeIs(3));
    EXPECT_THAT(generations(), Each("1"));
    EXPECT_THAT(world.services(), SizeIs(3)) << "names outlive the pods";
}

TEST_F(GroupTest, SeveralFailuresAtOnceAreOneRestart) {
    world.create_job({.group = true});
    world.settle();
    world.set_all("Running");
    world.settle();
    world.stop_operator();
    for (const char* pod : {"demo-master-0", "demo-worker-0", "demo-worker-1"})
        world.set_phase(pod, "Failed", 137);
    world.start_operator();
    finish_restart();
    expect_running(1);
}

TEST_F(GroupTest, AFailureDuringARestartIsPartOfIt) {
    world.run_job({.group = true});
    world.set_phase("demo-worker-1", "Failed", 1);
    world.settle();
    world.set_phase("demo-worker-0", "Failed", 143);  // as its node stops it
    world.settle();
    world.force_delete_pod("demo-master-0");
    finish_restart();
    expect_running(1);
}

TEST_F(GroupTest, AFailureOfTheNewGenerationIsTheNextRestart) {
    world.run_job({.group = true});
    for (int restart = 1; restart <= 3; ++restart) {
        world.set_phase("demo-worker-1", "Failed", 1);
        finish_restart();
        expect_running(restart);
    }
}

TEST_F(GroupTest, APodThatFailsBeforeItsPeersRun) {
    world.run_job({.group = true});
    world.set_phase("demo-worker-1", "Failed", 1);
    world.settle();
    world.reap();
    world.settle();
    world.set_phase("demo-worker-0", "Failed", 1);
    finish_restart();
    expect_running(2);
}

// A program that can't start would keep the machine busy otherwise, as it would without the pauses
// of a kubelet.
TEST_F(GroupTest, RestartsInARowArePutOff) {
    world.run_job({.group = true});
    const auto fail = [&] {
        world.set_all("Running");
        world.set_phase("demo-worker-1", "Failed", 1);
        world.settle();
        world.reap();
        world.settle();
    };
    fail();
    EXPECT_THAT(world.pods(), SizeIs(3)) << "no pause for the first";
    for (const std::chrono::seconds pause : {10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
        fail();
        EXPECT_THAT(world.status("demo").conditions.back().message,
                    HasSubstr(fmt::format("after a pause of {} s).", pause.count())));
        world.run_for(pause - 2s);
        EXPECT_THAT(world.pods(), IsEmpty()) << pause;
        EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Restarting"));
        world.run_for(3s);
        EXPECT_THAT(world.pods(), SizeIs(3)) << pause;
    }
    world.run_for(10min);
    fail();
    EXPECT_THAT(world.pods(), SizeIs(3)) << "it had kept up";
    fail();
    EXPECT_THAT(world.pods(), IsEmpty());
    world.stop_operator();
    world.start_operator();
    world.settle();
    EXPECT_THAT(world.pods(), IsEmpty()) << "another operator waits as well";
    world.suspend_job("demo", true);
    world.settle();
    world.suspend_job("demo", false);
    world.settle();
    EXPECT_THAT(world.pods(), SizeIs(3)) << "somebody wants it now";
}

TEST_F(GroupTest, TheLimitCountsGroups) {
    world.run_job({.backoff_limit = 2, .group = true});
    world.set_phase("demo-worker-1", "Failed", 1);
    finish_restart();
    expect_running(1);
    world.stop_operator();
    for (const char* pod : {"demo-worker-0", "demo-worker-1"}) world.set_phase(pod, "Failed", 1);
    world.start_operator();
    world.settle();
    EXPECT_TRUE(world.status("demo").is("Failed"));
    EXPECT_EQ(world.status("demo").conditions.back().message, backoff_message("demo"));
    EXPECT_EQ(generation(), 1) << "the second restart would reach the limit";
    world.reap();
    world.settle();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-1"))
        << "what ended stays to be looked at";
}

// Its peers have lost it all the same, and its work is part of what is done again.
TEST_F(GroupTest, AReplicaThatHadSucceededBeginsAgain) {
    world.run_job({.workers = 2, .group = true});
    world.set_phase("demo-worker-0", "Succeeded", 0);
    world.settle();
    world.set_phase("demo-worker-1", "Failed", 1);
    finish_restart();
    expect_running(1);
    EXPECT_EQ(world.status("demo").replica_statuses["Worker"].succeeded, std::nullopt);
}

TEST_F(GroupTest, ASuspensionIsNoRestart) {
    world.run_job({.backoff_limit = 1, .group = true});
    world.suspend_job("demo", true);
    world.settle();
    world.reap();
    world.settle();
    world.suspend_job("demo", false);
    world.settle();
    world.set_all("Running");
    world.settle();
    EXPECT_EQ(generation(), 0);
    EXPECT_THAT(summary(world.status("demo")),
                ElementsAre("Created", "Suspended=False", "Running"));
}

TEST_F(GroupTest, ScalingIsNoRestart) {
    world.run_job({.backoff_limit = 1, .group = true});
    world.scale_workers("demo", 1);
    finish_restart();
    world.scale_workers("demo", 3);
    finish_restart();
    EXPECT_EQ(generation(), 0);
    EXPECT_THAT(world.pods(), SizeIs(4));
}

TEST_F(GroupTest, TheAnnotationCountsFromWhenItIsThere) {
    world.run_job({});
    json::object patch{
        {"metadata", json::object{{"annotations", json::object{{"muster.dev/restart", "group"}}}}}};
    ASSERT_TRUE(world
                    .wait(world.client.patch(pytorch().resource, "default", "demo",
                                             kube::ContentType::kMergePatch, std::move(patch)))
                    .has_value());
    world.settle();
    world.set_phase("demo-worker-1", "Failed", 1);
    finish_restart();
    expect_running(1);
}

}  // namespace
}  // namespace muster::operators::operator_group_test
