// Of kinds whose ids rise: restarts belong to ranks, and the pod that follows another has a new id.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/changes_fixture.h"

namespace muster::sim::invariants_ranks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Of a pod whose rank is not its id.
std::string rank(int number) {
    return fmt::format(R"({{"metadata":{{"annotations":{{"muster.dev/rank":"{}"}}}}}})", number);
}

class RanksTest : public ::testing::Test {
  protected:
    RanksTest() {
        world.job(R"({"apiVersion":"elastic.iml.github.io/v1alpha1","kind":"ElasticJob"})");
    }
    void fails(const std::string& pod, int id) {
        world.pod(pod, id, kRunning);
        world.pod(pod, id, kFailed);
    }

    Changes world;
};

TEST_F(RanksTest, TwoLivePodsOfOneBreakARule) {
    world.pod("a", 0);
    world.pod("b", 5, rank(0));
    EXPECT_THAT(world.broken(), ElementsAre("one-pod"));
}

TEST_F(RanksTest, OneThatTakesOverMayBeBesideTheOther) {
    world.job(R"({"status":{"members":{"worker":{"ids":"0-1,5","ranks":{"5":0},"next":6}}}})");
    world.pod("a", 0);
    world.pod("b", 5, rank(0));
    EXPECT_THAT(world.broken(), IsEmpty());
    world.job(R"({"status":{"members":{"worker":{"ids":"1,5"}}}})");
    world.pod("a", 0, kRunning);
    EXPECT_THAT(world.broken(), IsEmpty()) << "it has not gone yet";
    world.pod("c", 6, rank(0));
    EXPECT_THAT(world.broken(), ElementsAre("one-pod")) << "no status wants this one beside it";
}

// Found by `muster simulate elastic-jobs-chaos --seed 62642`.
TEST_F(RanksTest, AFailureOfAPodThatWasTakenOverNeedNotCount) {
    for (const bool takes_over : {true, false}) {
        Changes story;
        story.job(R"({"apiVersion":"elastic.iml.github.io/v1alpha1","kind":"ElasticJob"})");
        if (takes_over)
            story.job(
                R"({"status":{"members":{"worker":{"ids":"0,5","ranks":{"5":0},"next":6}}}})");
        story.pod("a", 0, kRunning);
        if (!takes_over) story.pod("a", 0, kFailed);
        story.pod("b", 5, rank(0));
        if (takes_over) story.pod("a", 0, kFailed);
        story.remove_pod("a");
        story.wait(1min);
        story.job(fmt::format(R"({{"status":{{"conditions":[{{"type":"Succeeded","status":"True"}}],
                                  "completionTime":"{}"}}}})",
                              story.time()));
        if (takes_over)
            EXPECT_THAT(story.broken(), IsEmpty());
        else
            EXPECT_THAT(story.broken(), ElementsAre("restarts-least"));
    }
}

TEST_F(RanksTest, LivePodsOfTwoBreakNone) {
    world.pod("a", 5, rank(0));
    world.pod("b", 0, rank(1));
    EXPECT_THAT(world.broken(), IsEmpty());
}

TEST_F(RanksTest, AnIdWhosePodHasFailedIsNotUsedAgain) {
    world.replaced("a", 0, "b");
    EXPECT_THAT(world.broken(), ElementsAre("new-ids"));
}

TEST_F(RanksTest, APodFollowsUnderANewId) {
    fails("a", 0);
    world.pod("b", 1, rank(0));
    world.remove_pod("a");
    EXPECT_THAT(world.broken(), IsEmpty());
}

TEST_F(RanksTest, AnIdIsUsedAgainAfterASuspension) {
    fails("a", 0);
    world.job(R"({"metadata":{"generation":2},"spec":{"runPolicy":{"suspend":true}}})", "user");
    world.remove_pod("a");
    world.pod("b", 0);
    EXPECT_THAT(world.broken(), IsEmpty());
}

TEST_F(RanksTest, AnIdIsUsedAgainInTheNextGeneration) {
    fails("a", 0);
    world.remove_pod("a");
    world.pod("b", 0, R"({"metadata":{"annotations":{"muster.dev/generation":"1"}}})");
    EXPECT_THAT(world.broken(), IsEmpty());
}

TEST_F(RanksTest, OneThatIsReplacedAgainAtOnceBreaksARule) {
    fails("a", 0);
    world.pod("b", 1, rank(0));
    fails("b", 1);
    world.pod("c", 2, rank(0));
    EXPECT_THAT(world.broken(), ElementsAre("back-off"));
}

TEST_F(RanksTest, RestartsOfAPodBelongToItsRank) {
    fails("a", 0);
    world.pod("b", 1, rank(0));
    world.remove_pod("a");
    world.job(R"({"status":{"replicaStatuses":{"worker":{"restarts":2}}}})");
    EXPECT_THAT(world.broken(), ElementsAre("restarts-most"));
}

}  // namespace
}  // namespace muster::sim::invariants_ranks_test
