#include "agent/node_check/node_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "agent/node_check/compute_probe.h"
#include "agent/node_check/link_probe.h"
#include "base/async/task_fault.h"
#include "base/async/task_group.h"
#include "base/test_loop.h"
#include "net/memory_stream.h"

namespace muster::agent::node_check_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(ComputeProbe, MeasuresThisMachine) {
    RealLoop loop;
    const auto figures = loop.await(measure_compute(loop.clock, 1ms));
    ASSERT_TRUE(figures) << figures.error().message();
    EXPECT_GT(figures->flops, 1e6);
    EXPECT_GT(figures->memory_bytes, 1e6);
}

class LinkProbe : public ::testing::Test, protected RealLoop {
  protected:
    LinkProbe() : tasks(context.get_executor()) {
        std::tie(near, far) = net::make_memory_streams(context.get_executor());
    }
    void TearDown() override { await(tasks.stop()); }
    static Task<bool> admit(std::string secret) { co_return secret == "right"; }
    void answer() {
        tasks.spawn("answer", [](LinkProbe& test) -> Task<void> {
            test.answered = co_await answer_probe(*test.far, admit);
            test.far->close();
        }(*this));
    }
    Result<job_protocol::LinkFigures> measure(std::string secret) {
        return await(measure_link(*near, clock, std::move(secret), {.pings = 3, .bulk = 1ms}));
    }
    /// What the answering side makes of bytes.
    Code refusal(std::string bytes) {
        answer();
        EXPECT_TRUE(await(near->write(asio::buffer(bytes))));
        // Or the other side has ended it already.
        std::ignore = await(near->shut_down_write());
        run_until([&] { return answered.has_value(); });
        return *answered ? Code::kConflict : answered->error().code();
    }

    std::unique_ptr<net::ByteStream> near;
    std::unique_ptr<net::ByteStream> far;
    std::optional<Result<void>> answered;
    TaskGroup tasks;
};

TEST_F(LinkProbe, HasFiguresOfBothDirections) {
    answer();
    const auto figures = measure("right");
    ASSERT_TRUE(figures) << figures.error().message();
    EXPECT_GT(figures->round_trip, Duration::zero());
    EXPECT_GT(figures->bytes_out, 1e6);
    EXPECT_GT(figures->bytes_in, 1e6);
    near->close();
    run_until([&] { return answered.has_value(); });
}

TEST_F(LinkProbe, AnotherSecretIsRefused) {
    answer();
    const auto figures = measure("wrong");
    ASSERT_FALSE(figures);
    EXPECT_EQ(figures.error().code(), Code::kUnavailable);
    EXPECT_EQ(answered->error().code(), Code::kForbidden);
}

TEST_F(LinkProbe, WhatIsNoProbeIsRefused) {
    const std::string hello = std::string("MLP1\x05right", 10);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\n"), Code::kBadRequest);
    struct Case {
        std::string bytes;
        Code code;
    };
    const Case cases[] = {
        {hello + std::string("x\0\0\0\0\0\0\0\0", 9), Code::kBadRequest},
        {hello + std::string("o\1\0\0\0\0\0\0\0", 9), Code::kBadRequest},  // An exabyte.
        {hello + std::string("p\0\0", 3), Code::kUnavailable},
        {hello + std::string("o\0\0\0\0\0\0\0\2-", 10), Code::kUnavailable},
        {hello, Code::kConflict},  // Nothing is asked: that is its end.
        {std::string("MLP1\x05ri", 7), Code::kUnavailable},
    };
    for (const Case& one : cases) {
        await(tasks.join());
        answered.reset();
        std::tie(near, far) = net::make_memory_streams(context.get_executor());
        EXPECT_EQ(refusal(one.bytes), one.code) << one.bytes;
    }
}

/// Two nodes, whose links are in memory.
class NodeChecks : public ::testing::Test, protected SimulatedLoop {
  protected:
    NodeChecks() : near(make()), far(make()), tasks(context.get_executor()) {
        auto listening = std::make_unique<net::MemoryListener>(context.get_executor());
        listener = listening.get();
        far.serve(std::move(listening));
    }
    void TearDown() override {
        await(tasks.stop());
        await(near.stop());
        await(far.stop());
    }
    NodeCheck make() {
        return NodeCheck(context.get_executor(), clock,
                         {.connect = [this](std::string, std::uint16_t) { return connect(); },
                          .compute = [this] { return compute(); },
                          .quick = {.pings = 1, .most = 1}});
    }
    Task<Result<std::unique_ptr<net::ByteStream>>> connect() {
        if (dark) co_await clock.sleep_for(1h);
        if (refuses) co_return Error(Code::kUnavailable, "connection refused");
        co_return listener->connect();
    }
    Task<Result<ComputeFigures>> compute() {
        co_await clock.sleep_for(compute_time);
        if (is_wrong) co_return Error(Code::kInternal, "its processor computes wrong products");
        co_return ComputeFigures{.flops = 2e9, .memory_bytes = 3e9};
    }
    void run_far() {
        tasks.spawn("far", [](NodeChecks& test) -> Task<void> {
            test.of_far = co_await test.far.run({.epoch = 3, .round = 1, .secret = "s"});
        }(*this));
    }
    void run_far_in(Duration time) {
        tasks.spawn("late", [](NodeChecks& test, Duration later) -> Task<void> {
            co_await test.clock.sleep_for(later);
            test.run_far();
        }(*this, time));
    }
    job_protocol::CheckResult run_near() {
        return await(near.run({.epoch = 3,
                               .round = 1,
                               .dials = {{.incarnation = "far", .address = "x", .port = 1}},
                               .secret = "s",
                               .limit = 10s}));
    }

    net::MemoryListener* listener = nullptr;
    bool dark = false;
    bool refuses = false;
    bool is_wrong = false;
    Duration compute_time = 100ms;
    NodeCheck near;
    NodeCheck far;
    std::optional<job_protocol::CheckResult> of_far;
    TaskGroup tasks;
};

TEST_F(NodeChecks, MeasureThemselvesAndTheirLink) {
    run_far();
    const auto result = run_near();
    EXPECT_EQ(result.epoch, 3u);
    EXPECT_EQ(result.flops, 2e9);
    EXPECT_EQ(result.memory_bytes, 3e9);
    ASSERT_EQ(result.links.size(), 1u);
    EXPECT_EQ(result.links[0].peer, "far");
    EXPECT_EQ(result.links[0].trouble, "");
    EXPECT_GT(result.links[0].bytes_out, 0);
    EXPECT_EQ(of_far->links.size(), 0u);
}

TEST_F(NodeChecks, ProbesAreAcceptedAgainAfterAFault) {
    settle();
    auto listening = std::make_unique<net::MemoryListener>(context.get_executor());
    const TaskFault fault("accept probes");
    near.serve(std::move(listening));
    advance(1s);
    EXPECT_EQ(fault.hits(), 2u);
}

TEST_F(NodeChecks, AProbeWaitsUntilItsPeerHasItsOrder) {
    run_far_in(5s);
    const Instant from = clock.now();
    EXPECT_EQ(run_near().links[0].trouble, "");
    EXPECT_EQ(clock.now() - from, 5100ms);
}

TEST_F(NodeChecks, WhatIsNotThereInTimeIsTrouble) {
    const Instant from = clock.now();
    EXPECT_EQ(run_near().links[0].trouble, "nothing was heard for 9.9 s") << "no order there";
    EXPECT_EQ(clock.now() - from, 10s);
    dark = true;
    EXPECT_EQ(run_near().links[0].trouble, "nothing was heard for 9.9 s");
    dark = false;
    refuses = true;
    EXPECT_EQ(run_near().links[0].trouble, "connection refused");
    is_wrong = true;
    EXPECT_EQ(run_near().trouble, "its processor computes wrong products");
    is_wrong = false;
    compute_time = 1h;
    EXPECT_THAT(run_near().trouble, HasSubstr("could not be measured"));
}

TEST_F(NodeChecks, NobodyIsAnsweredWhenSomethingRuns) {
    far.end_answers();
    settle();
    EXPECT_NE(run_near().links[0].trouble, "");
}

}  // namespace
}  // namespace muster::agent::node_check_test
