#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "sim/elastic/elastic_world.h"

namespace muster::sim::elastic::elastic_keys_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Notes that a call has ended, and how.
Task<void> note(std::string name, Task<Result<void>> call, std::vector<std::string>& into) {
    const Result<void> ended = co_await std::move(call);
    into.push_back(ended ? name : fmt::format("{}: {}", name, ended.error().message()));
}

/// Agents of a job that use its master's keys.
class ElasticKeys : public ::testing::Test, protected SimulatedLoop {
  protected:
    void SetUp() override {
        world.emplace(
            static_cast<SimulatedLoop&>(*this),
            ElasticWorld::Options{.job = {.membership = {.min_nodes = 2, .max_nodes = 2}}});
        world->start_master();
        for (int i = 0; i < 2; ++i) world->start_agent(world->add_node());
        until_run(2);
    }
    void TearDown() override {
        await(tasks.stop());
        EXPECT_EQ(world->broken(), "") << world->trace();
        world->close();
    }
    void until_run(std::size_t workers) {
        for (int i = 0; i < 60'000 && !world->runs(workers); ++i) advance(1ms);
        ASSERT_TRUE(world->runs(workers)) << world->trace();
    }
    ElasticWorld::Node& node(int at) { return *std::next(world->nodes.begin(), at); }
    agent::KvClient keys(int at) {
        auto found = node(at).agent->agent->keys();
        EXPECT_TRUE(found) << found.error().message();
        return *found;
    }
    void begin(const std::string& name, Task<Result<void>> call) {
        tasks.spawn("call", note(name, std::move(call), got));
        advance(10ms);
    }

    std::optional<ElasticWorld> world;
    TaskGroup tasks{context.get_executor()};
    std::vector<std::string> got;
};

TEST_F(ElasticKeys, AreSharedByTheNodesOfAWorld) {
    agent::KvClient first = keys(0);
    agent::KvClient second = keys(1);
    begin("it is there", first.wait_for({"k"}, 1min));
    ASSERT_TRUE(await(second.set("k", "v", 1s)));
    EXPECT_EQ(await(first.get("k", 1s)).value(), "v");
    EXPECT_THAT(got, ElementsAre("it is there"));
    EXPECT_EQ(await(first.add("n", 2, 1s)).value(), 2);
    EXPECT_EQ(await(second.add("n", 3, 1s)).value(), 5);
    EXPECT_TRUE(await(first.compare_set("k", "v", "w", 1s))->yes);
    EXPECT_TRUE(await(first.erase("k", 1s)).value());
    begin("both are here", first.barrier("b", 1min));
    EXPECT_THAT(got, ElementsAre("it is there"));
    ASSERT_TRUE(await(second.barrier("b", 1s)));
    EXPECT_FALSE(await(first.join("s", 1s)).value());
    begin("both have come", second.wait_for_all_at("s", 1min));
    EXPECT_TRUE(await(second.join("s", 1s)).value());
    EXPECT_THAT(got, ElementsAre("it is there", "both are here", "both have come"));
}

TEST_F(ElasticKeys, EndWithTheirWorldAndSayWhy) {
    agent::KvClient before = keys(0);
    ASSERT_TRUE(await(before.set("k", "v", 1s)));
    begin("waits", before.wait_for({"never"}, 1h));
    node(1).workers.end(0, {}, SIGSEGV);
    advance(1s);
    until_run(2);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_THAT(got[0], StartsWith("waits: generation 1.1 has ended: "));
    EXPECT_THAT(got[0], HasSubstr("SIGSEGV"));
    EXPECT_THAT(await(before.get("k", 1s)).error().message(), HasSubstr("has ended"));
    EXPECT_EQ(await(keys(0).get("k", 1s)).value(), std::nullopt) << "a new world begins anew";
}

TEST_F(ElasticKeys, AreLostWithTheirMasterAndNotTakenForEmpty) {
    agent::KvClient before = keys(0);
    ASSERT_TRUE(await(before.set("k", "v", 1s)));
    begin("waits", before.wait_for({"never"}, 1h));
    world->kill_master();
    advance(1s);
    EXPECT_THAT(got, ElementsAre()) << "who waits goes on while no master is there";
    world->start_master();
    advance(5s);
    EXPECT_EQ(world->invariants.worlds(), 1u) << "the world goes on";
    ASSERT_EQ(got.size(), 1u);
    EXPECT_THAT(got[0], HasSubstr("these keys belonged to the master of epoch 1"));
    EXPECT_EQ(await(before.get("k", 1s)).error().code(), Code::kGone);
    EXPECT_EQ(await(keys(0).get("k", 1s)).value(), std::nullopt);
    ASSERT_TRUE(await(keys(1).set("k", "w", 1s)));
    EXPECT_EQ(await(keys(0).get("k", 1s)).value(), "w");
}

TEST_F(ElasticKeys, NobodyWaitsForANodeThatIsDone) {
    agent::KvClient first = keys(0);
    begin("all who still run are here", first.barrier("b", 1min));
    node(1).workers.finish();
    advance(1s);
    EXPECT_THAT(got, ElementsAre("all who still run are here"));
}

TEST_F(ElasticKeys, OfANodeWithoutWorkersAreNone) {
    world->start_agent(world->add_node());
    advance(1s);
    const auto none = node(2).agent->agent->keys();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace muster::sim::elastic::elastic_keys_test
