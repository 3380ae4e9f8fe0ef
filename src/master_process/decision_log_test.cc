#include "master_process/decision_log.h"

#include <gmock/gmock.h>

#include <vector>

#include "base/log.h"
#include "master/service/quiet_host.h"

namespace muster::master_process::decision_log_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class WaitingJob final : public master::QuietHost {
  public:
    std::string waits_for() const override { return waits; }
    void say(master::Notice notice) override { said.push_back(notice.text); }

    std::string waits;
    std::vector<std::string> said;
};

class DecisionLogTest : public ::testing::Test {
  protected:
    void SetUp() override {
        log::set_sink([this](log::Level, std::string_view line) { lines.emplace_back(line); });
        log::set_level(log::Level::kInfo);
    }
    void TearDown() override {
        log::set_sink({});
        log::set_level(log::Level::kWarning);
    }

    WaitingJob job;
    DecisionLog decisions{job};
    std::vector<std::string> lines;
};

TEST_F(DecisionLogTest, SaysWhichWorldRunsAndWhy) {
    master::World world{.generation = {.epoch = 7, .number = 3}, .members = {}, .restarts = 2};
    for (int i = 0; i < 2; ++i)
        world.members.push_back({.slot = i,
                                 .incarnation = "a",
                                 .address = "10.0.0." + std::to_string(7 + i),
                                 .group_rank = i});
    world.nodes = 2;
    world.ranks = 4;
    decisions.world_changed(&world, "a worker died");
    decisions.world_changed(nullptr, "a node is lost");
    EXPECT_THAT(lines, ElementsAre("generation 3 runs, 4 workers on 2 nodes: 10.0.0.7 (slot 0), "
                                   "10.0.0.8 (slot 1) epoch=7 attempt=2 why=\"a worker died\"",
                                   "no world runs why=\"a node is lost\""));
}

TEST_F(DecisionLogTest, ManyNodesAreNotAllListed) {
    master::World world;
    world.members.resize(100);
    world.nodes = world.ranks = 100;
    EXPECT_LT(world_text(world).size(), 300u);
    EXPECT_THAT(world_text(world), testing::EndsWith(", ..."));
}

TEST_F(DecisionLogTest, SaysWhatTheJobWaitsForEverMoreSeldom) {
    const Instant start = Instant() + 1h;
    for (int second = 0; second < 3600; ++second) {
        job.waits = "1 of at least 2 nodes, for " + std::to_string(second) + " s now";
        decisions.advance(start + second * 1s, {});
    }
    EXPECT_THAT(job.said, SizeIs(testing::AllOf(testing::Ge(10u), testing::Le(20u))));
    EXPECT_EQ(job.said.front(), "1 of at least 2 nodes, for 0 s now");
    master::World world;
    decisions.world_changed(&world, "");
    job.waits = "another node is missing";
    decisions.advance(start + 3600s, {});
    EXPECT_EQ(job.said.back(), "another node is missing") << "at once, after a world";
    const std::size_t before = job.said.size();
    decisions.advance(start + 7200s, {});
    EXPECT_THAT(job.said, SizeIs(before)) << "the same text once";
    job.waits.clear();
    decisions.advance(start + 9999s, {});
    EXPECT_THAT(job.said, SizeIs(before));
}

}  // namespace
}  // namespace muster::master_process::decision_log_test
