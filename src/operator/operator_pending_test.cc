#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kube/values/time.h"
#include "operator/internal/world_fixture.h"

// Pods for which a scheduler finds no node, of a kind whose jobs don't wait for them without end.

namespace muster::operators::operator_pending_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;
using Policy = jobs::PendingPolicy;

/// As many seconds as the annotation "patience" says, else 900.
const jobs::JobKind& waiting() {
    static const jobs::JobKind kind = [] {
        jobs::JobKind made = rising();
        made.pending_annotations = {"patience"};
        made.pending_policy = [](const jobs::Job& job) {
            const auto said = job.metadata.annotations.find("patience");
            const int seconds =
                said == job.metadata.annotations.end() ? 900 : std::stoi(said->second);
            return Policy{.demand = Policy::Demand::kNecessary,
                          .timeout = std::chrono::seconds(seconds),
                          .needs = {{}, {.necessary = 2, .all = 3}}};
        };
        return made;
    }();
    return kind;
}

class PendingTest : public ::testing::Test {
  protected:
    PendingTest() { world.start_operator(); }

    /// A job of three workers, the first of which runs, and the others were refused now.
    void run_short() {
        world.create_job({.masters = -1, .workers = 3});
        world.settle();
        world.set_phase("demo-worker-0", "Running");
        refuse("demo-worker-1");
        refuse("demo-worker-2");
        world.settle();
    }
    void refuse(const std::string& pod,
                std::string_view words = "0/3 nodes are available: no GPU") {
        // A scheduler that repeats itself leaves the time as it is.
        const auto since =
            refused_since_.try_emplace(pod, kube::format_time(world.clock.wall_now())).first;
        json::object condition{{"type", "PodScheduled"},
                               {"status", "False"},
                               {"reason", "Unschedulable"},
                               {"message", words},
                               {"lastTransitionTime", since->second}};
        json::object patch{{"status", {{"conditions", json::array{std::move(condition)}}}}};
        auto patched = world.wait(world.client.patch(kube::types::kPods, "default", pod,
                                                     kube::ContentType::kMergePatch,
                                                     json::value(std::move(patch)), "status"));
        ASSERT_TRUE(patched.has_value()) << patched.error().message();
    }
    void annotate(const std::string& value) {
        json::object patch{{"metadata", {{"annotations", {{"patience", value}}}}}};
        auto patched = world.wait(world.client.patch(waiting().resource, "default", "demo",
                                                     kube::ContentType::kMergePatch,
                                                     json::value(std::move(patch))));
        ASSERT_TRUE(patched.has_value()) << patched.error().message();
    }
    std::string message(std::string_view type) {
        for (const jobs::JobCondition& one : world.status("demo").conditions)
            if (one.type == type && one.status == "True") return one.message;
        return {};
    }

    World world{1, {.namespace_ = {}, .more_kinds = {&waiting()}}};

  private:
    std::map<std::string, std::string> refused_since_;
};

TEST_F(PendingTest, IsToldAndEndsTheJobWithoutAnyOtherEvent) {
    run_short();
    world.run_for(20s);
    EXPECT_THAT(message("Incomplete"),
                AllOf(HasSubstr("2 of 3 Worker pods (demo-worker-1, demo-worker-2)"),
                      HasSubstr("demo-worker-1: 0/3 nodes are available: no GPU")));
    EXPECT_THAT(world.events("demo"),
                Contains(HasSubstr("RisingJobUnschedulable: 2 of 3 Worker pods")));
    const int writes = world.transport.writes;
    world.run_for(14min);
    EXPECT_EQ(world.transport.writes, writes) << "nothing is written while nothing changes";
    EXPECT_FALSE(world.status("demo").finished());
    world.run_for(1min);
    EXPECT_THAT(message("Failed"), HasSubstr("PendingTimeout: 2 of 3 Worker pods"));
    world.reap();
    world.settle();
    EXPECT_THAT(world.pods(), IsEmpty());
}

TEST_F(PendingTest, AnOperatorThatDiesDoesNotStopTheClock) {
    run_short();
    world.run_for(10min);
    world.stop_operator();
    world.run_for(4min);
    world.start_operator();
    world.run_for(30s);
    EXPECT_FALSE(world.status("demo").finished());
    world.restart_operator();
    world.run_for(1min);
    EXPECT_THAT(message("Failed"), HasSubstr("PendingTimeout"));
}

TEST_F(PendingTest, TheJobContinuesWithEnoughAndAnotherOneJoins) {
    run_short();
    world.run_for(5min);
    world.set_phase("demo-worker-1", "Running");
    world.run_for(1h);
    EXPECT_THAT(message("Incomplete"),
                AllOf(HasSubstr("1 of 3 Worker pods (demo-worker-2)"), HasSubstr("continues")));
    EXPECT_TRUE(world.status("demo").is("Running"));
    // Having waited for an hour, it is a reserve that is not there: the lack begins now.
    world.set_phase("demo-worker-0", "Failed", 137);
    world.settle();
    world.reap();
    world.settle();
    refuse("demo-worker-3");
    world.run_for(14min);
    EXPECT_FALSE(world.status("demo").finished());
    world.set_phase("demo-worker-2", "Running");
    world.run_for(1h);
    EXPECT_THAT(message("Incomplete"), HasSubstr("(demo-worker-3)"));
    world.set_phase("demo-worker-3", "Running");
    world.settle();
    EXPECT_EQ(message("Incomplete"), "");
    EXPECT_TRUE(world.status("demo").is("Running"));
}

TEST_F(PendingTest, AnEditOfTheAnnotationIsInEffectAtOnce) {
    run_short();
    world.run_for(1min);
    annotate("3600");
    world.run_for(30min);
    EXPECT_FALSE(world.status("demo").finished());
    annotate("60");
    world.settle();
    EXPECT_THAT(message("Failed"), HasSubstr("longer than 60 s"));
}

TEST_F(PendingTest, NumbersThatChangeAreNotWritten) {
    run_short();
    world.run_for(20s);
    const int writes = world.transport.writes;
    for (int i = 4; i < 8; ++i) {
        refuse("demo-worker-1", fmt::format("0/{} nodes are available: no GPU", i));
        world.run_for(1min);
    }
    EXPECT_EQ(world.transport.writes, writes);
    refuse("demo-worker-1", "0/9 nodes are available: untolerated taint");
    world.run_for(20s);
    EXPECT_THAT(message("Incomplete"), HasSubstr("untolerated taint"));
}

TEST_F(PendingTest, ASuspendedJobDoesNotWait) {
    run_short();
    world.run_for(1min);
    world.suspend_job("demo", true);
    world.run_for(1min);
    world.reap();
    world.run_for(2h);
    EXPECT_EQ(message("Incomplete"), "");
    EXPECT_TRUE(world.status("demo").is("Suspended"));
    EXPECT_THAT(world.status("demo").conditions, Not(IsEmpty()));
}

}  // namespace
}  // namespace muster::operators::operator_pending_test
