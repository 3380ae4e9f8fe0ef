#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/async/task_fault.h"
#include "base/test_loop.h"
#include "job_protocol/protocol.h"
#include "master/master_probe.h"
#include "master/memory_records.h"
#include "net/memory_stream.h"

namespace muster::master::split_brain_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using enum Stance;

TEST(SplitBrain, OneOfTwoStays) {
    struct Case {
        const char* what;
        MasterClaim own;
        MasterClaim other;
        Stance own_does;
        Stance other_does;
    };
    constexpr bool kGathers = false;
    const Case cases[] = {
        {"equals: the newer stays", {2, 1}, {1, 1}, kGoOn, kYield},
        {"neither has a world", {2, 0}, {1, 0}, kGoOn, kYield},
        {"the newer is the larger", {2, 3}, {1, 1}, kGoOn, kYield},
        {"the older is the larger, and is the newest first", {1, 3}, {2, 1}, kClaimAnew, kGoOn},
        {"and then", {3, 3}, {2, 1}, kGoOn, kYield},
        {"a world against none", {1, 1}, {2, 0}, kClaimAnew, kGoOn},
        {"of one time, and one is larger", {1, 2}, {1, 1}, kClaimAnew, kGoOn},
        {"it has met itself", {1, 2}, {1, 2}, kGoOn, kGoOn},
        {"the older gathers its agents", {1, 0, kGathers}, {2, 1}, kYield, kGoOn},
        {"the newer gathers its agents", {2, 0, kGathers}, {1, 3}, kGoOn, kGoOn},
        {"both do", {2, 0, kGathers}, {1, 0, kGathers}, kGoOn, kGoOn},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(stance(c.own, c.other), c.own_does) << c.what;
        EXPECT_EQ(stance(c.other, c.own), c.other_does) << c.what << ", the other";
    }
}

TEST(SplitBrain, OfAnyTwoThatAreSettledOneStays) {
    for (std::uint64_t epoch = 1; epoch < 5; ++epoch)
        for (int nodes = 0; nodes < 4; ++nodes)
            for (int other_nodes = 0; other_nodes < 4; ++other_nodes) {
                MasterClaim one{.epoch = epoch, .nodes = nodes};
                MasterClaim other{.epoch = 3, .nodes = other_nodes};
                if (one.epoch == other.epoch) continue;
                if (stance(one, other) == kClaimAnew)
                    one.epoch = other.epoch + 1;
                else if (stance(other, one) == kClaimAnew)
                    other.epoch = one.epoch + 1;
                EXPECT_EQ((stance(one, other) == kYield) + (stance(other, one) == kYield), 1)
                    << epoch << " " << nodes << " " << other_nodes;
                EXPECT_NE(stance(one, other), kClaimAnew);
                EXPECT_NE(stance(other, one), kClaimAnew);
            }
}

/// Masters of one job, each with a record of its own, as on two sides of a cut network.
class SplitBrainWatchTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    struct Side {
        explicit Side(SplitBrainWatchTest& test, std::uint64_t epoch, std::string token)
            : records(test.clock, 1ms),
              master(test.context.get_executor(), test.clock, records,
                     {.job = {.membership = {.min_nodes = 1, .max_nodes = 1}, .first_epoch = epoch},
                      .token = token,
                      .name = "master " + std::to_string(epoch)}),
              watch(test.clock, test.rng, master, {.token = token, .every = 1s}) {
            auto listening = std::make_unique<net::MemoryListener>(test.context.get_executor());
            listener = listening.get();
            master.listen(std::move(listening));
        }
        MemoryRecords records;
        Master master;
        MasterProbe watch;
        net::MemoryListener* listener;
        std::optional<Result<Verdict>> ended;
    };
    Side& side(std::uint64_t epoch, std::string token = "secret") {
        sides.push_back(std::make_unique<Side>(*this, epoch, std::move(token)));
        Side& made = *sides.back();
        for (std::uint64_t claimed = 1; claimed < epoch; ++claimed)
            EXPECT_TRUE(await(made.records.claim()));
        tasks.spawn("master", run(made));
        advance(10ms);
        return made;
    }
    static Task<void> run(Side& side) {
        side.ended = co_await side.master.run();
        side.listener = nullptr;
    }
    /// A node that is the whole world of that master.
    void add_agent(Side& to, const std::string& name) {
        agents.push_back(std::make_unique<rpc::Client>(
            connect_to(to), clock, rng, tasks,
            rpc::Client::Options{.token = "secret", .name = name, .about = name}));
        agents.back()->start();
        tasks.spawn("agent", join(*agents.back(), name));
        advance(100ms);
        ASSERT_EQ(to.master.claim().nodes, 1);
    }
    static Task<void> join(rpc::Client& client, std::string name) {
        const Hello hello{.incarnation = name, .slot = {}, .address = name};
        const auto orders = co_await rpc::open(client, job_protocol::kJoin, to_wire(hello));
        while (orders) {
            const auto next = co_await (*orders)->next();
            if (!next || !*next) co_return;
        }
    }
    rpc::Client::Connect connect_to(Side& to) {
        return [&to]() -> Task<Result<std::unique_ptr<net::ByteStream>>> {
            if (to.listener == nullptr) co_return Error(Code::kUnavailable, "nobody listens");
            co_return to.listener->connect();
        };
    }
    void TearDown() override {
        await(tasks.stop());
        agents.clear();
        for (const auto& one : sides) await(one->master.stop());
    }

    Rng rng{3};
    TaskGroup tasks{context.get_executor()};
    std::vector<std::unique_ptr<Side>> sides;
    std::vector<std::unique_ptr<rpc::Client>> agents;
};

TEST_F(SplitBrainWatchTest, TheOlderOfEqualsYieldsWhoeverAsks) {
    for (const bool newer_asks : {true, false}) {
        Side& older = side(1);
        Side& newer = side(2);
        if (newer_asks)
            newer.watch.start(tasks, {connect_to(older)});
        else
            older.watch.start(tasks, {connect_to(newer)});
        advance(3s);
        ASSERT_TRUE(older.ended && !*older.ended);
        EXPECT_EQ(older.ended->error().code(), Code::kConflict);
        EXPECT_THAT(
            older.ended->error().message(),
            HasSubstr("another master of the job is in charge, of epoch 2 and with 0 nodes"));
        EXPECT_EQ(older.master.superseded_by(), std::nullopt);
        EXPECT_FALSE(newer.ended);
    }
}

TEST_F(SplitBrainWatchTest, AFaultDoesNotEndTheQuestions) {
    Side& older = side(1);
    Side& newer = side(2);
    {
        const TaskFault fault("ask for another master");
        newer.watch.start(tasks, {connect_to(older)});
        advance(3s);
        EXPECT_GT(fault.hits(), 0u);
        EXPECT_FALSE(older.ended);
    }
    advance(10s);
    EXPECT_TRUE(older.ended);
}

TEST_F(SplitBrainWatchTest, TheLargerClaimsAnewWhenItIsOlder) {
    Side& older = side(1);
    Side& newer = side(2);
    add_agent(older, "a");
    newer.watch.start(tasks, {connect_to(older)});
    advance(3s);
    ASSERT_TRUE(older.ended && !*older.ended);
    EXPECT_EQ(older.master.superseded_by(), 2u);
    EXPECT_FALSE(newer.ended) << "until it hears of the newest";
    Side& newest = side(3);
    add_agent(newest, "b");
    newest.watch.start(tasks, {connect_to(newer)});
    advance(3s);
    EXPECT_TRUE(newer.ended && !*newer.ended);
    EXPECT_FALSE(newest.ended);
}

TEST_F(SplitBrainWatchTest, AnotherJobsMasterIsNoRival) {
    Side& own = side(1);
    Side& other = side(2, "another's");
    own.watch.start(tasks, {connect_to(other)});
    advance(10s);
    EXPECT_FALSE(own.ended);
    EXPECT_FALSE(other.ended);
}

TEST_F(SplitBrainWatchTest, NobodyThereIsNoMatter) {
    Side& own = side(1);
    own.watch.start(tasks, {[]() -> Task<Result<std::unique_ptr<net::ByteStream>>> {
                        co_return Error(Code::kUnavailable, "nobody listens");
                    }});
    advance(1min);
    EXPECT_FALSE(own.ended);
}

}  // namespace
}  // namespace muster::master::split_brain_test
