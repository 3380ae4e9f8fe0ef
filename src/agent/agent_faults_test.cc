#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <deque>
#include <memory>
#include <vector>

#include "agent/agent.h"
#include "base/async/task_fault.h"
#include "base/test_loop.h"
#include "job_protocol/protocol.h"
#include "net/memory_stream.h"
#include "rpc/server.h"

namespace muster::agent::agent_faults_test {
namespace {

using namespace std::chrono_literals;
using job_protocol::Directive;
using job_protocol::FailureKind;
using job_protocol::Verdict;
using job_protocol::World;
using testing::SizeIs;

/// Starts and ends at once, and says what it is told to.
class ToldWorkers final : public workers::Workers {
  public:
    explicit ToldWorkers(const asio::any_io_executor& executor) : changed_(executor) {}

    std::optional<World> running() const override { return world_; }
    Task<Result<void>> start(World world, std::vector<launch::WorkerStart>) override {
        ++starts;
        world_ = std::move(world);
        co_return Result<void>();
    }
    Task<workers::WorkerEnd> next_end() override {
        while (ends_.empty()) co_await changed_.wait();
        workers::WorkerEnd end = std::move(ends_.front());
        ends_.pop_front();
        co_return end;
    }
    Task<void> stop(Duration) override {
        world_.reset();
        co_return;
    }
    std::optional<std::uint64_t> steps() const override { return made; }

    void end_one(int exit_code) {
        ends_.push_back({.generation = world_->generation, .exit_code = exit_code});
        changed_.notify_all();
    }

    int starts = 0;
    std::optional<std::uint64_t> made;

  private:
    std::optional<World> world_;
    std::deque<workers::WorkerEnd> ends_;
    Signal changed_;
};

/// An agent and a master that says what the test does.
class AgentFaultsTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    AgentFaultsTest() {
        rpc::serve(server_, job_protocol::kJoin,
                   [this](rpc::PeerPtr, job::Join, rpc::ItemSink<job::Directive> orders) {
                       return follow(orders);
                   });
        rpc::serve(server_, job_protocol::kReport,
                   [this](const rpc::PeerPtr&, const job::Report& report) {
                       reported = *job_protocol::from_wire(report);
                   });
        auto listening = std::make_unique<net::MemoryListener>(context.get_executor());
        listener_ = listening.get();
        server_.serve(std::move(listening));
        agent_ = std::make_unique<Agent>(
            context.get_executor(), clock, rng_, workers,
            AgentOptions{.token = "secret", .incarnation = "agent"},
            AgentOwner{.connect = [this] { return connect(); },
                       .make_workers =
                           [](const World&, const job_protocol::Member&) {
                               return Result<std::vector<launch::WorkerStart>>(
                                   std::vector<launch::WorkerStart>(1));
                           },
                       .place = [] { return AgentPlace{.address = "here"}; },
                       .begin_store = [](const World&) {}});
    }
    ~AgentFaultsTest() override {
        agent_.reset();
        await(server_.stop());
    }

    Task<Result<std::unique_ptr<net::ByteStream>>> connect() { co_return listener_->connect(); }
    Task<Result<void>> follow(rpc::ItemSink<job::Directive> orders) {
        for (std::size_t told = 0;;) {
            while (told == ordered_) co_await changed_.wait();
            told = ordered_;
            CO_TRY_VOID(co_await orders.write(job_protocol::to_wire(order_)));
        }
    }
    void order(Directive::What what) {
        order_ = {.epoch = 1, .what = std::move(what)};
        ++ordered_;
        changed_.notify_all();
        settle();
    }
    static World world() {
        return job_protocol::as_told_to(
            {.generation = {.epoch = 1, .number = 1},
             .members = {{.slot = 0, .incarnation = "agent", .address = "here"}},
             .nodes = 1,
             .ranks = 1},
            0);
    }
    void begin() {
        asio::co_spawn(context, agent_->run(),
                       [this](std::exception_ptr, AgentEnd end) { end_ = std::move(end); });
        settle();
    }
    void expect_success() {
        order(Verdict{});
        advance(5s);
        ASSERT_TRUE(end_);
        EXPECT_EQ(end_->kind, AgentEnd::Kind::kSucceeded);
    }

    ToldWorkers workers{context.get_executor()};
    job_protocol::Report reported;

  private:
    Rng rng_{3};
    rpc::Server server_{context.get_executor(), clock, {.token = "secret", .name = "master"}};
    net::MemoryListener* listener_ = nullptr;
    Signal changed_{context.get_executor()};
    Directive order_;
    std::size_t ordered_ = 0;
    std::unique_ptr<Agent> agent_;
    std::optional<AgentEnd> end_;
};

TEST_F(AgentFaultsTest, WhatServesItsWorkersBeginsAgain) {
    {
        std::vector<std::unique_ptr<TaskFault>> faults;
        for (const char* task : {"follow the master", "tell the master", "watch workers",
                                 "watch steps", "watch the master", "watch the time"})
            faults.push_back(std::make_unique<TaskFault>(task));
        begin();
        advance(1s);
        for (const auto& fault : faults) EXPECT_EQ(fault->hits(), 2u);
        while (!faults.empty()) faults.pop_back();
    }
    advance(2s);
    order(job_protocol::Run{.world = world()});
    EXPECT_EQ(workers.starts, 1);
    ASSERT_TRUE(reported.holds);
    workers.made = 7;
    advance(2s);
    EXPECT_EQ(reported.steps, 7u);
    workers.end_one(1);
    settle();
    ASSERT_THAT(reported.evidence, SizeIs(1));
    EXPECT_EQ(reported.evidence[0].kind, FailureKind::kWorkerExited);
    expect_success();
}

TEST_F(AgentFaultsTest, AFaultInTheStartOfWorkersIsAFailureToStart) {
    begin();
    {
        const TaskFault fault("start workers");
        order(job_protocol::Run{.world = world()});
        EXPECT_EQ(fault.hits(), 1u);
    }
    ASSERT_THAT(reported.evidence, SizeIs(1));
    EXPECT_EQ(reported.evidence[0].kind, FailureKind::kNotStarted);
    EXPECT_THAT(reported.evidence[0].error, testing::HasSubstr("the log has it under the id"));
    expect_success();
}

TEST_F(AgentFaultsTest, WorkersThatWereNotStoppedAreStoppedLater) {
    begin();
    order(job_protocol::Run{.world = world()});
    EXPECT_TRUE(workers.running());
    {
        const TaskFault fault("stop workers");
        order(job_protocol::Stop{.generation = world().generation});
        EXPECT_EQ(fault.hits(), 1u);
        EXPECT_TRUE(workers.running());
    }
    advance(1s);
    EXPECT_FALSE(workers.running());
    expect_success();
}

}  // namespace
}  // namespace muster::agent::agent_faults_test
