// A master that was told no terms, as agents see it over their connections.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>

#include "base/test_loop.h"
#include "job_protocol/protocol.h"
#include "master/master.h"
#include "master/memory_records.h"
#include "net/memory_stream.h"

namespace muster::master::master_terms_test {
namespace {

using namespace std::chrono_literals;

class MasterTermsTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    void start_master(bool begins_again = false) {
        master = std::make_unique<Master>(
            context.get_executor(), clock, records,
            MasterOptions{.job = {.terms_of_nodes = true, .begins_again = begins_again},
                          .token = "secret",
                          .name = "a master"});
        auto listening = std::make_unique<net::MemoryListener>(context.get_executor());
        listener = listening.get();
        master->listen(std::move(listening));
        tasks.spawn("master", run(*master));
        advance(10ms);
    }
    static Task<void> run(Master& master) { (void)co_await master.run(); }
    /// To whom a master that finds a failed job says what.
    std::string heard_after_failure(bool begins_again) {
        (void)await(records.claim());
        const Verdict failed{.kind = Verdict::Kind::kFailed, .text = "a budget is used up"};
        EXPECT_TRUE(await(records.write({.epoch = 1, .end = failed})));
        start_master(begins_again);
        start_agent({.silence = 60s});
        return heard;
    }
    void start_agent(Terms terms) {
        rpc::ClientLimits limits;
        limits.liveness = {.dead_after = terms.silence};
        agent = std::make_unique<rpc::Client>(
            [this]() -> Task<Result<std::unique_ptr<net::ByteStream>>> {
                co_return listener->connect();
            },
            clock, rng, tasks,
            rpc::Client::Options{
                .token = "secret", .name = "a", .about = "an agent", .limits = limits});
        agent->start();
        tasks.spawn("agent", join(*agent, std::move(terms)));
        advance(100ms);
    }
    Task<void> join(rpc::Client& client, Terms terms) {
        const Hello hello{
            .incarnation = "a", .slot = {}, .address = "a", .terms = std::move(terms)};
        const auto orders = co_await rpc::open(client, job_protocol::kJoin, to_wire(hello));
        while (orders) {
            const auto next = co_await (*orders)->next();
            if (!next) heard = next.error().message();
            if (!next || !*next) co_return;
            const auto order = job_protocol::from_wire(**next);
            if (const auto* end = std::get_if<Verdict>(&order->what)) heard = end->text;
        }
    }
    void TearDown() override {
        await(tasks.stop());
        agent.reset();
        await(master->stop());
        master.reset();
    }

    Rng rng{5};
    MemoryRecords records{clock, 1ms};
    net::MemoryListener* listener = nullptr;
    std::unique_ptr<Master> master;
    std::unique_ptr<rpc::Client> agent;
    std::string heard;  ///< by the agent: the end, or why it may not join
    TaskGroup tasks{context.get_executor()};
};

TEST_F(MasterTermsTest, NodesMayBeSilentForAsLongAsTheySay) {
    start_master();
    start_agent({.silence = 60s});
    EXPECT_EQ(master->claim().nodes, 1);
    advance(50s);
    EXPECT_EQ(master->claim().nodes, 1);
    EXPECT_EQ(agent->connection(), 1u) << "a ping comes each twenty seconds, and that is enough";
}

TEST_F(MasterTermsTest, TheEndIsToldToWhoComesLater) {
    EXPECT_EQ(heard_after_failure(false), "a budget is used up");
}

TEST_F(MasterTermsTest, WhoComesAfterAFailureWaitsForTheMasterThatBeginsAgain) {
    EXPECT_EQ(heard_after_failure(true), "the job has failed, and its next master begins it again");
    EXPECT_EQ(agent->connection(), 1u) << "it asks again, and is not turned away";
}

TEST_F(MasterTermsTest, TheRecordHasThemBeforeAnAgentRuns) {
    start_master();
    records.set_faults([] { return MemoryRecords::Fault::kFails; });
    start_agent({.silence = 60s});
    advance(5s);
    EXPECT_FALSE(records.kept().terms);
    records.set_faults({});
    advance(3s);
    EXPECT_EQ(records.kept().terms, (Terms{.silence = 60s}));
    EXPECT_EQ(master->claim().nodes, 1);
}

}  // namespace
}  // namespace muster::master::master_terms_test
