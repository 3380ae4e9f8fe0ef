#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "sim/elastic/elastic_world.h"

namespace muster::sim::elastic::elastic_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Node = ElasticWorld::Node;

master::JobOptions job(int least, int most) {
    return {.membership = {.min_nodes = least, .max_nodes = most}};
}

class Elastic : public ::testing::Test, protected SimulatedLoop {
  protected:
    ElasticWorld& make(master::JobOptions options, int nodes,
                       ElasticWorld::NodeOptions node = ElasticWorld::NodeOptions()) {
        world.emplace(static_cast<SimulatedLoop&>(*this),
                      ElasticWorld::Options{.job = std::move(options)});
        world->start_master();
        for (int i = 0; i < nodes; ++i) world->start_agent(world->add_node(node));
        return *world;
    }
    Node& node(std::size_t at) { return *std::next(world->nodes.begin(), static_cast<long>(at)); }
    /// How long it takes until so many workers run, in one world.
    Duration until_run(std::size_t workers, Duration most = 1min) {
        const Instant from = clock.now();
        while (!world->runs(workers) && clock.now() < from + most) advance(1ms);
        EXPECT_TRUE(world->runs(workers)) << world->live_workers() << " of " << workers << "\n"
                                          << world->trace();
        return clock.now() - from;
    }
    void expect_end(agent::AgentEnd::Kind kind) {
        advance(5s);
        for (const Node& one : world->nodes) {
            ASSERT_TRUE(one.end) << one.name << "\n" << world->trace();
            EXPECT_EQ(one.end->kind, kind) << one.end->text;
        }
    }
    int charged(job_protocol::Charge charge) const {
        return static_cast<int>(std::ranges::count(world->records.kept().incidents, charge,
                                                   &job_protocol::Incident::charge));
    }
    void TearDown() override {
        if (!world) return;
        EXPECT_EQ(world->broken(), "") << world->trace();
        world->close();
    }

    std::optional<ElasticWorld> world;
};

TEST_F(Elastic, NodesGatherRunAndEnd) {
    make(job(3, 3), 3, {.local_size = 2});
    EXPECT_LT(until_run(6), 100ms);
    advance(1h);
    EXPECT_EQ(world->invariants.worlds(), 1u);
    world->finish();
    expect_end(agent::AgentEnd::Kind::kSucceeded);
    ASSERT_TRUE(world->verdict && *world->verdict);
    EXPECT_EQ((*world->verdict)->text, "all 6 workers exited with 0");
}

TEST_F(Elastic, AWorkersDeathBeginsAllAnewOnce) {
    auto options = job(2, 2);
    options.budgets[1].incidents = 3;
    make(std::move(options), 2, {.local_size = 2});
    until_run(4);
    node(1).workers.end(0, 1, 0, "ValueError: no");
    node(0).workers.end(1, {}, SIGABRT);
    advance(1ms);
    EXPECT_LT(until_run(4), 50ms);
    EXPECT_EQ(world->invariants.worlds(), 2u);
    EXPECT_EQ(charged(job_protocol::Charge::kWorker), 1);
}

TEST_F(Elastic, ABudgetThatIsUsedUpEndsTheJobWithItsCause) {
    auto options = job(2, 2);
    options.budgets[1].incidents = 1;
    make(std::move(options), 2);
    until_run(2);
    node(0).workers.end(0, 3, 0);
    advance(1ms);
    until_run(2);
    node(1).workers.end(0, {}, SIGSEGV, "");
    expect_end(agent::AgentEnd::Kind::kFailed);
    EXPECT_THAT(node(0).end->text, HasSubstr("was killed by SIGSEGV"));
    EXPECT_THAT(node(0).end->text, HasSubstr("1 of 1 worker failures (--max-restarts)"));
    EXPECT_EQ(node(0).end->cause->signal, SIGSEGV);
    EXPECT_EQ(node(0).end->cause->slot, 1);
}

TEST_F(Elastic, AProgramThatCantStartEndsTheJob) {
    make(job(2, 2), 1);
    world->add_node().workers.fails_to_start = true;
    world->start_agent(node(1));
    expect_end(agent::AgentEnd::Kind::kFailed);
    EXPECT_THAT(node(0).end->text, HasSubstr("could not be started: worker 0: no such program"));
}

TEST_F(Elastic, AStandbyNodeTakesThePlaceOfALostAgent) {
    make(job(2, 2), 3);
    until_run(2);
    EXPECT_EQ(node(2).workers.live(), 0u);
    world->kill_agent(node(0));
    advance(150ms);
    EXPECT_EQ(node(2).workers.running()->generation.number, 2u);
    EXPECT_EQ(node(2).workers.running()->own().slot, 0);
    EXPECT_EQ(node(1).workers.running()->own().slot, 1);
    EXPECT_EQ(node(0).workers.live(), 1u) << "a second for another agent to come";
    EXPECT_LT(until_run(2), 1s);
}

TEST_F(Elastic, AWorldGoesOnWithoutALostNodeAndTakesItBack) {
    make(job(1, 2), 2);
    until_run(2);
    world->lose_node(node(1), false);
    EXPECT_LT(until_run(1), 200ms);
    world->return_node(node(1));
    EXPECT_LT(until_run(2), 200ms);
    EXPECT_EQ(charged(job_protocol::Charge::kNode), 1);
    EXPECT_EQ(charged(job_protocol::Charge::kWorker), 0);
}

TEST_F(Elastic, ASilentNodeIsNoticedAtTheHeartbeatLimit) {
    make(job(1, 2), 2);
    until_run(2);
    advance(1min);
    world->lose_node(node(1), true);
    const Duration took = until_run(1);
    EXPECT_GT(took, 3900ms);
    EXPECT_LT(took, 5300ms);
}

TEST_F(Elastic, AConnectionThatBreaksIsNoLoss) {
    make(job(2, 2), 2);
    until_run(2);
    for (int i = 0; i < 20; ++i) {
        node(static_cast<std::size_t>(i % 2)).link.cut();
        advance(500ms);
    }
    EXPECT_EQ(world->invariants.worlds(), 1u);
    EXPECT_TRUE(world->runs(2));
}

TEST_F(Elastic, ANewMasterTakesOverAndNobodyStops) {
    make(job(3, 3), 3);
    until_run(3);
    for (int i = 0; i < 5; ++i) {
        world->kill_master();
        advance(3s);
        world->start_master();
        advance(2s);
    }
    EXPECT_TRUE(world->runs(3));
    EXPECT_EQ(world->invariants.worlds(), 1u);
    EXPECT_EQ(world->job()->world()->generation,
              (job_protocol::Generation{.epoch = 1, .number = 1}));
    node(0).workers.end(0, 1, 0);
    advance(1ms);
    EXPECT_LT(until_run(3), 50ms);
    EXPECT_EQ(world->job()->world()->generation,
              (job_protocol::Generation{.epoch = 6, .number = 2}));
    world->finish();
    expect_end(agent::AgentEnd::Kind::kSucceeded);
}

TEST_F(Elastic, WhatDiedWhileNoMasterWasThereBeginsAnewWithTheNextOne) {
    make(job(2, 2), 2);
    until_run(2);
    world->kill_master();
    advance(1s);
    node(1).workers.end(0, 1, 0);
    advance(10s);
    EXPECT_EQ(world->live_workers(), 1u) << "with more nodes only a master can tell all";
    world->start_master();
    EXPECT_LT(until_run(2), 1500ms);
    EXPECT_EQ(charged(job_protocol::Charge::kWorker), 1);
}

TEST_F(Elastic, ANodeThatIsTheWholeWorldNeedsNoMasterForItsBudget) {
    auto options = job(1, 1);
    options.budgets[1].incidents = 2;
    make(std::move(options), 1);
    until_run(1);
    world->kill_master();
    advance(1s);
    for (int i = 0; i < 2; ++i) {
        node(0).workers.end(0, 1, 0);
        advance(1ms);
        EXPECT_LT(until_run(1), 20ms);
    }
    EXPECT_EQ(charged(job_protocol::Charge::kWorker), 0);
    world->start_master();
    advance(2s);
    EXPECT_TRUE(world->runs(1)) << "the new master stops nobody";
    EXPECT_EQ(charged(job_protocol::Charge::kWorker), 2);
    world->kill_master();
    node(0).workers.end(0, 1, 0);
    advance(5min);  // less than the agent waits for a master
    EXPECT_EQ(world->live_workers(), 0u) << "nothing is left of the budget";
    world->start_master();
    expect_end(agent::AgentEnd::Kind::kFailed);
    EXPECT_THAT(node(0).end->text, HasSubstr("2 of 2 worker failures"));
}

TEST_F(Elastic, ANewAgentTakesWorkersOver) {
    make(job(2, 2), 2);
    until_run(2);
    world->kill_agent(node(1));
    advance(20ms);
    world->start_agent(node(1));
    advance(10s);
    EXPECT_TRUE(world->runs(2));
    EXPECT_EQ(world->invariants.worlds(), 1u);
    world->finish();
    advance(5s);
    EXPECT_EQ(node(1).end->kind, agent::AgentEnd::Kind::kSucceeded);
}

TEST_F(Elastic, ANewAgentLearnsWhatDiedUnderTheOldOne) {
    make(job(2, 2), 2);
    until_run(2);
    world->kill_master();
    node(1).workers.end(0, 1, 0);
    advance(100ms);
    world->kill_agent(node(1));
    advance(20ms);
    world->start_agent(node(1));
    advance(5s);
    world->start_master();
    EXPECT_LT(until_run(2), 1500ms);
    EXPECT_EQ(world->invariants.worlds(), 2u);
}

TEST_F(Elastic, AnAgentThatLeavesCostsNothing) {
    make(job(1, 2), 2);
    until_run(2);
    world->leave(node(1));
    EXPECT_LT(until_run(1), 20ms);
    advance(1s);
    EXPECT_EQ(node(1).end->kind, agent::AgentEnd::Kind::kLeft);
    EXPECT_THAT(world->records.kept().incidents, testing::IsEmpty());
}

TEST_F(Elastic, TwoAgentsThatClaimOneSlotAreToldSo) {
    make(job(2, 2), 0);
    world->start_agent(world->add_node({.slot = 0}));
    world->start_agent(world->add_node({.slot = 0}));
    advance(8s);
    EXPECT_FALSE(node(0).end);
    ASSERT_TRUE(node(1).end);
    EXPECT_EQ(node(1).end->kind, agent::AgentEnd::Kind::kExcluded);
    EXPECT_THAT(node(1).end->text, HasSubstr("slot 0 is held by the agent n0 at n0"));
    world->start_agent(world->add_node({.slot = 1}));
    until_run(2);
}

TEST_F(Elastic, AWorldThatCanNotFormSaysWhoIsMissing) {
    make(job(3, 3), 2);
    advance(11min);
    for (const Node& one : world->nodes) {
        ASSERT_TRUE(one.end) << one.name;
        EXPECT_EQ(one.end->kind, agent::AgentEnd::Kind::kGaveUp);
        EXPECT_THAT(
            one.end->text,
            HasSubstr(
                "no world after 600 s (join_timeout of --rdzv-conf): 2 of at least 3 nodes have "
                "joined; no node has slot 2, for"));
    }
}

TEST_F(Elastic, AMasterThatIsNotThereIsNamed) {
    make(job(1, 1), 0);
    world->kill_master();
    world->start_agent(world->add_node());
    advance(11min);
    ASSERT_TRUE(node(0).end);
    EXPECT_THAT(node(0).end->text, HasSubstr("the job's master can't be reached: nothing listens"));
}

TEST_F(Elastic, AnOldMasterIsNotObeyed) {
    make(job(1, 1), 1);
    until_run(1);
    // Another claims the next epoch behind its back.
    ASSERT_TRUE(await(world->records.claim()));
    node(0).workers.end(0, 1, 0);
    advance(1s);
    EXPECT_FALSE(world->has_master());
    ASSERT_TRUE(world->verdict && !*world->verdict);
    EXPECT_EQ(world->verdict->error().code(), Code::kConflict);
    EXPECT_THAT(world->records.kept().incidents, testing::IsEmpty());
    world->start_master();
    until_run(1);
}

TEST_F(Elastic, NothingFollowsFromWhatIsNotRecorded) {
    make(job(2, 2), 2);
    until_run(2);
    bool broken = true;
    world->records.set_faults([&] {
        return broken ? master::MemoryRecords::Fault::kFails : master::MemoryRecords::Fault::kNone;
    });
    node(0).workers.end(0, 1, 0);
    advance(10s);
    EXPECT_EQ(world->live_workers(), 1u);
    EXPECT_EQ(world->invariants.worlds(), 1u);
    broken = false;
    until_run(2);
}

}  // namespace
}  // namespace muster::sim::elastic::elastic_test
