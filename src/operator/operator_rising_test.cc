#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "operator/internal/cache/job_facts.h"
#include "operator/internal/world_fixture.h"

// A kind whose ids rise: the replacement of a replica has another name, and its rank.

namespace muster::operators::operator_rising_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class RisingTest : public ::testing::Test {
  protected:
    RisingTest() {
        world.transport.before_write = [this](const kube::Request& request) {
            if (request.path.find("/events") != std::string::npos) return;
            const std::string_view path = request.path;
            std::string what(path.substr(path.rfind('/') + 1));
            if (request.method == kube::Method::kPost) what = "new " + what;
            if (request.method == kube::Method::kDelete)
                what = (path.contains("/services/") ? "no service " : "no ") + what;
            writes.push_back(std::move(what));
        };
        world.start_operator();
    }

    /// But for their restarts.
    jobs::ReplicaMembers workers() {
        jobs::ReplicaMembers members = world.status("demo").members["Worker"];
        members.restarts.clear();
        members.former_restarts.reset();
        return members;
    }
    std::map<std::string, std::int32_t> restarts_by_id() {
        return world.status("demo").members["Worker"].restarts;
    }
    std::int32_t former_restarts() {
        return world.status("demo").members["Worker"].former_restarts.value_or(0);
    }
    void settle_and_reap() {
        world.settle();
        world.reap();
        world.settle();
    }
    void run_all() {
        world.set_all("Running");
        world.settle();
    }
    std::string variable(const std::string& pod, const std::string& name) {
        const auto object = world.object(kube::types::kPods, pod);
        for (const json::value& one :
             object->at("spec").at("containers").at(0).at("env").as_array())
            if (one.at("name").as_string() == name) return std::string(one.at("value").as_string());
        return {};
    }

    World world{1, {.namespace_ = {}, .more_kinds = {&rising()}}};
    std::vector<std::string> writes;
};

jobs::ReplicaMembers members(std::string ids, std::map<std::string, std::int32_t> ranks,
                             std::int32_t next) {
    return {.ids = std::move(ids), .ranks = std::move(ranks), .next = next};
}

TEST_F(RisingTest, AReplacementHasANewNameAndTheRank) {
    world.run_job({.workers = 2});
    EXPECT_EQ(workers(), members("0-1", {}, 2));
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-0", "demo-worker-1"));
    world.set_phase("demo-worker-0", "Failed", 137);
    settle_and_reap();
    EXPECT_EQ(workers(), members("1-2", {{"2", 0}}, 3));
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-1", "demo-worker-2"));
    EXPECT_THAT(world.services(), ElementsAre("demo-master-0", "demo-worker-1", "demo-worker-2"));
    EXPECT_EQ(variable("demo-worker-2", "ID"), "2");
    EXPECT_EQ(variable("demo-worker-2", "RANK"), "0");
    EXPECT_EQ(world.annotation("demo-worker-2", "muster.dev/rank"), "0");
    EXPECT_EQ(world.annotation("demo-worker-2", "muster.dev/restarts"), "1");
    EXPECT_EQ(world.annotation("demo-worker-2", "muster.dev/in-a-row"), "1");
    EXPECT_EQ(world.annotation("demo-worker-1", "muster.dev/rank"), "");
    run_all();
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Running"));
    EXPECT_EQ(world.restarts("demo"), 1);
}

TEST_F(RisingTest, TheStatusSaysSoBeforeAnythingFollows) {
    world.run_job({.masters = -1, .workers = 2});
    world.run_for(1s);
    writes.clear();
    world.set_phase("demo-worker-1", "Failed", 137);
    settle_and_reap();
    run_all();
    world.run_for(1min);
    ASSERT_THAT(writes, ::testing::Not(IsEmpty()));
    EXPECT_EQ(writes.front(), "status");
    EXPECT_THAT(writes, ::testing::Contains("new pods").Times(1));
    EXPECT_THAT(writes, ::testing::Contains("new services").Times(1));
    EXPECT_THAT(writes, ::testing::Contains("no demo-worker-1").Times(1));
    EXPECT_THAT(writes, ::testing::Contains("no service demo-worker-1").Times(1));
    EXPECT_THAT(writes, SizeIs(::testing::Le(8u))) << ::testing::PrintToString(writes);
}

TEST_F(RisingTest, APodThatSomebodyDeletesIsFollowedByAnotherNameWhenItIsGone) {
    world.run_job({.masters = -1, .workers = 2, .policy = "Never"});
    world.delete_pod("demo-worker-1");
    world.settle();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-1"));
    settle_and_reap();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-2"));
    EXPECT_EQ(workers(), members("0,2", {{"2", 1}}, 3));
    run_all();
    EXPECT_EQ(world.restarts("demo"), 1);
    world.delete_pod("demo-worker-2");
    settle_and_reap();
    world.outlast_pause();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-3"));
    EXPECT_EQ(world.annotation("demo-worker-3", "muster.dev/restarts"), "2");
    EXPECT_EQ(world.restarts("demo"), 2);
}

TEST_F(RisingTest, APodThatCouldNotBeMadeKeepsItsName) {
    world.transport.failure_probability = 1;
    world.create_job({.masters = -1, .workers = 1});
    world.run_for(1s);
    world.transport.failure_probability = 0;
    world.run_for(1min);
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0"));
}

TEST_F(RisingTest, ScalesUpAndDownAndNoNameComesBack) {
    world.run_job({.masters = -1, .workers = 3});
    world.scale_workers("demo", 1);
    settle_and_reap();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0"));
    EXPECT_THAT(world.services(), ElementsAre("demo-worker-0"));
    world.scale_workers("demo", 3);
    settle_and_reap();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-3", "demo-worker-4"));
    EXPECT_EQ(workers(), members("0,3-4", {{"3", 1}, {"4", 2}}, 5));
    run_all();
    EXPECT_EQ(world.restarts("demo"), 0);
    EXPECT_EQ(world.status("demo").replica_statuses["Worker"].active, 3);
    world.scale_workers("demo", 0);
    settle_and_reap();
    EXPECT_THAT(world.pods(), IsEmpty());
    world.scale_workers("demo", 1);
    settle_and_reap();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-5"));
    EXPECT_EQ(world.rank("demo-worker-5"), 0);
}

TEST_F(RisingTest, ARankThatIsWantedAgainWaitsUntilItsOldPodIsAskedToGo) {
    world.run_job({.masters = -1, .workers = 2});
    world.transport.writes_left = 1;
    world.scale_workers("demo", 1);
    world.settle();
    EXPECT_EQ(workers(), members("0", {}, 2)) << "written, and nothing deleted";
    world.stop_operator();
    world.scale_workers("demo", 2);
    world.transport.writes_left = 1;
    world.start_operator();
    world.settle();
    EXPECT_EQ(workers(), members("0,2", {{"2", 1}}, 3)) << "the same once more";
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-1"));
    world.stop_operator();
    world.transport.writes_left.reset();
    writes.clear();
    world.start_operator();
    settle_and_reap();
    const auto asked = std::ranges::find(writes, "no demo-worker-1");
    const auto made = std::ranges::find(writes, "new pods");
    ASSERT_NE(asked, writes.end());
    ASSERT_NE(made, writes.end());
    EXPECT_LT(asked - writes.begin(), made - writes.begin());
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-2"));
}

TEST_F(RisingTest, ScalesThroughTheScaleSubresource) {
    world.run_job({.masters = -1, .workers = 2});
    json::object scale{{"apiVersion", "autoscaling/v1"},
                       {"kind", "Scale"},
                       {"metadata", json::object{{"name", "demo"}, {"namespace", "default"}}},
                       {"spec", json::object{{"replicas", 4}}}};
    auto updated = world.wait(
        world.client.update(rising().resource, "default", "demo", std::move(scale), "scale"));
    ASSERT_TRUE(updated.has_value()) << updated.error().message();
    settle_and_reap();
    EXPECT_THAT(world.pods(), SizeIs(4));
    EXPECT_EQ(workers(), members("0-3", {}, 4));
}

TEST_F(RisingTest, AFailureThatIsScaledAwayIsNotReplaced) {
    world.run_job({.masters = -1, .workers = 2});
    world.stop_operator();
    world.set_phase("demo-worker-1", "Failed", 137);
    world.scale_workers("demo", 1);
    world.start_operator();
    settle_and_reap();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0"));
    EXPECT_EQ(workers(), members("0", {}, 2));
}

TEST_F(RisingTest, ASuspensionKeepsIdsAndRanks) {
    world.run_job({.masters = -1, .workers = 2});
    world.set_phase("demo-worker-0", "Failed", 137);
    settle_and_reap();
    world.suspend_job("demo", true);
    settle_and_reap();
    EXPECT_THAT(world.pods(), IsEmpty());
    world.suspend_job("demo", false);
    world.settle();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-1", "demo-worker-2"));
    EXPECT_EQ(world.rank("demo-worker-2"), 0);
}

TEST_F(RisingTest, AJobThatIsCreatedSuspendedHasMembersFromTheStart) {
    world.create_job({.masters = -1, .workers = 2, .suspend = true});
    world.settle();
    EXPECT_EQ(workers(), members("0-1", {}, 2));
    world.scale_workers("demo", 3);
    world.suspend_job("demo", false);
    settle_and_reap();
    EXPECT_THAT(world.pods(), SizeIs(3));
    EXPECT_EQ(workers(), members("0-2", {}, 3));
}

// The first status comes after the pods.
TEST_F(RisingTest, IdsOfPodsThatNoStatusToldOfAreUsedUp) {
    world.transport.writes_left = 8;
    world.create_job({.masters = -1, .workers = 4});
    world.settle();
    ASSERT_THAT(world.pods(), SizeIs(4));
    ASSERT_TRUE(world.status("demo").conditions.empty());
    world.stop_operator();
    world.scale_workers("demo", 2);
    world.transport.writes_left.reset();
    world.start_operator();
    settle_and_reap();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-1"));
    EXPECT_EQ(workers(), members("0-1", {}, 4));
}

TEST_F(RisingTest, AGroupRestartKeepsIdsAndRanks) {
    world.run_job({.masters = -1, .workers = 2, .backoff_limit = 100, .group = true});
    world.set_phase("demo-worker-1", "Failed", 1);
    settle_and_reap();
    world.run_for(1min);
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-1"));
    EXPECT_EQ(world.annotation("demo-worker-0", "muster.dev/generation"), "1");
    EXPECT_EQ(workers(), members("0-1", {}, 2));
    run_all();
    EXPECT_EQ(world.status("demo").restart_generation, 1);
    EXPECT_EQ(world.restarts("demo"), 0);
}

TEST_F(RisingTest, WhatIsDoneStaysDone) {
    world.run_job({.masters = -1, .workers = 2});
    world.set_phase("demo-worker-0", "Failed", 137);
    settle_and_reap();
    run_all();
    world.set_phase("demo-worker-2", "Succeeded", 0);
    world.settle();
    EXPECT_EQ(world.status("demo").replica_statuses["Worker"].completed_indexes, "2");
    world.delete_pod("demo-worker-2");
    settle_and_reap();
    world.restart_operator();
    world.run_for(1min);
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-1"));
    EXPECT_FALSE(world.status("demo").finished());
    world.set_phase("demo-worker-1", "Succeeded", 0);
    world.settle();
    EXPECT_TRUE(world.status("demo").is("Succeeded"));
    EXPECT_EQ(world.status("demo").replica_statuses["Worker"].succeeded, 2);
}

TEST_F(RisingTest, TheLimitOfRestartsCountsAcrossNames) {
    world.run_job({.masters = -1, .workers = 1, .backoff_limit = 3});
    for (int restarts = 1; restarts <= 3; ++restarts) {
        EXPECT_FALSE(world.status("demo").finished());
        ASSERT_THAT(world.workers_of_rank(0), SizeIs(1));
        world.set_phase(world.workers_of_rank(0).front(), "Failed", 137);
        world.outlast_pause();
        if (restarts < 3) run_all();
    }
    EXPECT_TRUE(world.status("demo").is("Failed"));
    EXPECT_EQ(world.restarts("demo"), 2) << "the third would have reached the limit";
}

// 2 pods at once, and then after 10, 20, 40, 80, 160 and 300 s.
TEST_F(RisingTest, PausesFollowTheRank) {
    world.create_job({.masters = -1, .workers = 1});
    std::string last;
    for (int second = 0; second < 600; ++second) {
        world.run_for(1s);
        const auto pods = world.workers_of_rank(0);
        if (pods.empty() || pods.back() == last) continue;
        last = pods.back();
        world.set_phase(last, "Failed", 137);
        if (second % 7 == 3) world.restart_operator();
    }
    EXPECT_GE(workers().next, 6);
    EXPECT_LE(workers().next, 8);
}

TEST_F(RisingTest, AnOperatorThatStartsFindsWhatARankHasCost) {
    world.run_job({.masters = -1, .workers = 2});
    world.transport.writes_left = 1;
    world.set_phase("demo-worker-1", "Failed", 137);
    world.settle();
    EXPECT_EQ(workers(), members("0,2", {{"2", 1}}, 3));
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-1"));
    world.stop_operator();
    world.force_delete_pod("demo-worker-0");  // no operator has seen what became of it
    world.transport.writes_left.reset();
    world.start_operator();
    settle_and_reap();
    world.outlast_pause();
    EXPECT_THAT(world.pods(), ElementsAre("demo-worker-0", "demo-worker-2"));
    EXPECT_EQ(world.annotation("demo-worker-2", "muster.dev/restarts"), "1");
    EXPECT_EQ(world.annotation("demo-worker-0", "muster.dev/restarts"), "");
    EXPECT_EQ(world.restarts("demo"), 1);
}

TEST_F(RisingTest, WhatIsGoneCountsBesideWhatHappensWhileNoOperatorIsThere) {
    world.run_job({.masters = -1, .workers = 3});
    for (const char* pod : {"demo-worker-2", "demo-worker-1"}) {
        world.set_phase(pod, "Failed", 137);
        settle_and_reap();
        run_all();
    }
    EXPECT_EQ(world.restarts("demo"), 2);
    EXPECT_THAT(restarts_by_id(), ElementsAre(Pair("3", 1), Pair("4", 1)));
    world.scale_workers("demo", 1);
    settle_and_reap();
    EXPECT_THAT(restarts_by_id(), IsEmpty());
    EXPECT_EQ(former_restarts(), 2);
    EXPECT_EQ(world.restarts("demo"), 2);
    world.stop_operator();
    world.set_phase("demo-worker-0", "Failed", 137);
    world.start_operator();
    settle_and_reap();
    EXPECT_EQ(world.restarts("demo"), 3);
    EXPECT_THAT(restarts_by_id(), ElementsAre(Pair("5", 1)));
    EXPECT_EQ(world.annotation("demo-worker-5", "muster.dev/restarts"), "1");
    EXPECT_EQ(former_restarts(), 2);
}

TEST_F(RisingTest, ARankThatIsWantedAgainHasNoneOfWhatItHadBefore) {
    world.run_job({.masters = -1, .workers = 2});
    world.set_phase("demo-worker-1", "Failed", 137);
    settle_and_reap();
    run_all();
    world.scale_workers("demo", 1);
    world.settle();
    world.stop_operator();
    // As it may end when it is asked to.
    world.set_phase("demo-worker-2", "Failed", 143);
    world.scale_workers("demo", 2);
    world.start_operator();
    settle_and_reap();
    run_all();
    EXPECT_EQ(workers(), members("0,3", {{"3", 1}}, 4));
    EXPECT_EQ(world.annotation("demo-worker-3", "muster.dev/restarts"), "");
    EXPECT_EQ(world.restarts("demo"), 1);
    EXPECT_EQ(former_restarts(), 1);
}

TEST_F(RisingTest, AQuietJobIsNotWritten) {
    world.run_job({.workers = 2});
    world.set_phase("demo-worker-0", "Failed", 137);
    settle_and_reap();
    run_all();
    world.run_for(10min);
    const int before = world.transport.writes;
    world.restart_operator();
    world.run_for(1h);
    EXPECT_EQ(world.transport.writes, before);
}

TEST_F(RisingTest, ManyFailAtOnceAndEachRankIsFilledOnce) {
    world.run_job({.masters = -1, .workers = 40});
    for (int i = 0; i < 40; i += 2)
        world.set_phase(fmt::format("demo-worker-{}", i), "Failed", 137);
    settle_and_reap();
    EXPECT_THAT(world.pods(), SizeIs(40));
    for (std::int32_t rank = 0; rank < 40; ++rank) {
        const auto pods = world.workers_of_rank(rank);
        ASSERT_THAT(pods, SizeIs(1)) << rank;
        EXPECT_EQ(world.annotation(pods.front(), "muster.dev/restarts"), rank % 2 == 0 ? "1" : "");
    }
    EXPECT_EQ(world.restarts("demo"), 20);
    EXPECT_EQ(workers().next, 60);
}

// A server with another operator's definition drops what that does not know.
TEST(RisingWithoutMembers, NamesAreUsedAgain) {
    JobFacts facts;
    facts.kind = &rising();
    facts.types = {{.type = 1, .wanted = 2}};
    jobs::JobStatus status;
    ASSERT_NE(members_of(facts, status), nullptr);
    EXPECT_EQ((*members_of(facts, status))[1], Members::first(2));
    status.conditions.push_back({.type = "Created",
                                 .status = "True",
                                 .reason = {},
                                 .message = {},
                                 .last_update_time = {},
                                 .last_transition_time = {}});
    EXPECT_EQ(members_of(facts, status), nullptr);
    status.members["Master"] = members("0", {}, 1);
    EXPECT_EQ((*members_of(facts, status))[1], Members::first(2));
    facts.kind = &pytorch();
    EXPECT_EQ(members_of(facts, status), nullptr);
}

}  // namespace
}  // namespace muster::operators::operator_rising_test
