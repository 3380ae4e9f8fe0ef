#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/elastic/elastic_world.h"

namespace muster::sim::elastic::elastic_check_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Node = ElasticWorld::Node;

/// What a simulated node finds, and how long it takes.
struct Figures {
    double flops = 1e9;
    Duration time = 1s;
    std::string unreached = {};  ///< the address of a node that it does not reach
};

ElasticWorld::NodeOptions node_with(ElasticWorld& world, Figures figures) {
    return {.check = [&world,
                      figures](job_protocol::Check check) -> Task<job_protocol::CheckResult> {
        co_await world.loop.clock.sleep_for(figures.time);
        job_protocol::CheckResult result{.epoch = check.epoch,
                                         .round = check.round,
                                         .flops = figures.flops,
                                         .memory_bytes = 1e9};
        for (const job_protocol::CheckPeer& peer : check.dials)
            result.links.push_back({.peer = peer.incarnation,
                                    .trouble = peer.address == figures.unreached ? "no answer" : "",
                                    .bytes_out = 1e9,
                                    .bytes_in = 1e9});
        co_return result;
    }};
}

class ElasticCheck : public ::testing::Test, protected SimulatedLoop {
  protected:
    void make(int least, int most, std::vector<Figures> nodes, bool exclude_slow = false) {
        world.emplace(
            static_cast<SimulatedLoop&>(*this),
            ElasticWorld::Options{.job = {.membership = {.min_nodes = least, .max_nodes = most}},
                                  .node_check = master::NodeCheckOptions{
                                      .exclude_slow = exclude_slow, .secret = "s"}});
        world->start_master();
        for (Figures& figures : nodes)
            world->start_agent(world->add_node(node_with(*world, std::move(figures))));
    }
    Node& node(std::size_t at) { return *std::next(world->nodes.begin(), static_cast<long>(at)); }
    void TearDown() override {
        EXPECT_EQ(world->broken(), "") << world->trace();
        world->close();
    }

    std::optional<ElasticWorld> world;
};

TEST_F(ElasticCheck, WorkersStartWhenItIsOver) {
    make(2, 2, {{}, {.time = 3s}});
    advance(2900ms);
    EXPECT_EQ(world->live_workers(), 0u);
    advance(200ms);
    EXPECT_TRUE(world->runs(2)) << world->trace();
}

TEST_F(ElasticCheck, AFaultyNodeIsToldWhy) {
    make(2, 3, {{.unreached = "n2"}, {.unreached = "n2"}, {}});
    advance(40s);
    ASSERT_TRUE(node(2).end) << world->trace();
    EXPECT_EQ(node(2).end->kind, agent::AgentEnd::Kind::kExcluded);
    EXPECT_THAT(node(2).end->text, HasSubstr("failed the check: no link of it works"));
    EXPECT_TRUE(world->runs(2)) << world->trace();
}

TEST_F(ElasticCheck, TooFewAreLeft) {
    make(2, 2, {{.unreached = "n1"}, {}});
    advance(10s);
    ASSERT_TRUE(node(0).end) << world->trace();
    EXPECT_EQ(node(0).end->kind, agent::AgentEnd::Kind::kFailed);
    EXPECT_THAT(node(0).end->text, HasSubstr("the node check leaves 1 of at least 2 nodes"));
    EXPECT_EQ(node(1).end->kind, agent::AgentEnd::Kind::kExcluded);
}

TEST_F(ElasticCheck, ASlowNodeIsLeftOutWhereThatWasAsked) {
    make(1, 3, {{}, {.flops = 1e8}, {}}, true);
    advance(40s);
    ASSERT_TRUE(node(1).end) << world->trace();
    EXPECT_THAT(node(1).end->text, HasSubstr("it is slow"));
    EXPECT_TRUE(world->runs(2)) << world->trace();
}

TEST_F(ElasticCheck, ANodeThatGoesWhileItRuns) {
    make(1, 2, {{.time = 5s}, {.time = 5s}});
    advance(1s);
    world->lose_node(node(1), false);
    advance(40s);
    EXPECT_TRUE(world->runs(1)) << world->trace();
}

TEST_F(ElasticCheck, AMasterThatDiesWhileItRuns) {
    make(2, 2, {{.time = 5s}, {.time = 5s}});
    advance(1s);
    world->kill_master();
    advance(1s);
    world->start_master();
    advance(30s);
    EXPECT_TRUE(world->runs(2)) << world->trace();
    EXPECT_EQ(world->invariants.worlds(), 1u);
    world->kill_master();
    world->start_master();
    advance(30s);
    EXPECT_TRUE(world->runs(2)) << "what runs is not checked again";
    EXPECT_EQ(world->invariants.worlds(), 1u);
}

}  // namespace
}  // namespace muster::sim::elastic::elastic_check_test
