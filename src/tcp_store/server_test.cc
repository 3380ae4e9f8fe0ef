#include "tcp_store/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/task_fault.h"
#include "base/async/task_group.h"
#include "base/test_loop.h"
#include "net/memory_stream.h"
#include "tcp_store/commands.h"

namespace muster::tcp_store::server_test {
namespace {

using namespace std::chrono_literals;
using Kind = StoreCommandKind;
using testing::EndsWith;

/// A client that says bytes and reads answers, as torch's does.
class StoreServerTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    StoreServerTest() { serve({}); }
    void TearDown() override { await(server->stop()); }

    void serve(StoreLimits limits) {
        auto listening = std::make_unique<net::MemoryListener>(context.get_executor());
        listener = listening.get();
        server = std::make_unique<StoreServer>(
            context.get_executor(), clock, [this](const std::string&) { return admitted; }, limits);
        server->serve(std::move(listening));
    }
    /// Begins again with these.
    void limit(StoreLimits limits) {
        await(server->stop());
        serve(limits);
    }

    std::unique_ptr<net::ByteStream> connect() {
        auto stream = listener->connect();
        EXPECT_TRUE(stream);
        send(**stream, {.kind = Kind::kValidate, .number = kStoreMagic});
        return *std::move(stream);
    }
    void send(net::ByteStream& stream, const StoreCommand& command) {
        const std::string bytes = encode(command);
        EXPECT_TRUE(await(stream.write(asio::buffer(bytes))));
        settle();
    }
    /// What has come; "closed" after it when the connection was ended.
    std::string answers(net::ByteStream& stream) {
        std::string said;
        std::array<char, 1000> bytes{};
        settle();
        while (stream.has_input()) {
            const auto size = await(stream.read_some(asio::buffer(bytes)));
            if (!size || *size == 0) return said + "closed";
            said.append(bytes.data(), *size);
            settle();
        }
        return said;
    }

    bool admitted = true;
    std::unique_ptr<StoreServer> server;
    net::MemoryListener* listener = nullptr;
};

std::string text(const std::string& value) {
    std::string out;
    append_text(out, value);
    return out;
}

std::string number(std::int64_t value) {
    std::string out;
    append_number(out, value);
    return out;
}

TEST_F(StoreServerTest, AnswersEachCommandAsTorchsServerDoes) {
    auto client = connect();
    struct Case {
        StoreCommand sent;
        std::string answer;
    };
    for (const Case& c : {
             Case{{.kind = Kind::kPing, .number = 0x04030201}, "\x01\x02\x03\x04"},
             Case{{.kind = Kind::kSet, .keys = {"k"}, .values = {"v"}}, ""},
             Case{{.kind = Kind::kGet, .keys = {"k"}}, text("v")},
             Case{{.kind = Kind::kAppend, .keys = {"k"}, .values = {"w"}}, ""},
             Case{{.kind = Kind::kMultiGet, .keys = {"k", "none"}}, text("vw") + text("")},
             Case{{.kind = Kind::kCompareSet, .keys = {"k"}, .values = {"vw", "x"}}, text("x")},
             Case{{.kind = Kind::kAdd, .keys = {"n"}, .number = 41}, number(41)},
             Case{{.kind = Kind::kAdd, .keys = {"n"}, .number = 1}, number(42)},
             Case{{.kind = Kind::kCheck, .keys = {"k", "n"}}, std::string(1, '\0')},
             Case{{.kind = Kind::kCheck, .keys = {"k", "none"}}, "\x01"},
             Case{{.kind = Kind::kMultiSet, .keys = {"a", "b"}, .values = {"1", "2"}}, ""},
             Case{{.kind = Kind::kGetNumKeys}, number(4)},
             Case{{.kind = Kind::kDeleteKey, .keys = {"a"}}, number(1)},
             Case{{.kind = Kind::kDeleteKey, .keys = {"a"}}, number(0)},
             Case{{.kind = Kind::kWait, .keys = {"b", "k"}}, std::string(1, '\0')},
             Case{{.kind = Kind::kCancelWait}, "\x01"},
             Case{{.kind = Kind::kQueuePop, .keys = {"q"}}, number(0)},
             Case{{.kind = Kind::kQueuePush, .keys = {"q"}, .values = {"item"}}, ""},
             Case{{.kind = Kind::kQueueLen, .keys = {"q"}}, number(1)},
             Case{{.kind = Kind::kQueuePop, .keys = {"q"}}, number(1) + text("item")},
             Case{{.kind = Kind::kBarrier, .keys = {"bar"}, .number = 1}, std::string(1, '\0')},
         }) {
        send(*client, c.sent);
        EXPECT_EQ(answers(*client), c.answer) << static_cast<int>(c.sent.kind);
    }
}

TEST_F(StoreServerTest, LetsAWaiterGoWhenAnotherSetsTheKey) {
    auto waiter = connect();
    auto setter = connect();
    send(*waiter, {.kind = Kind::kWait, .keys = {"k"}});
    EXPECT_EQ(answers(*waiter), "");
    send(*setter, {.kind = Kind::kSet, .keys = {"k"}, .values = {"v"}});
    EXPECT_EQ(answers(*waiter), std::string(1, '\0'));
    send(*waiter, {.kind = Kind::kWait, .keys = {"l"}});
    send(*waiter, {.kind = Kind::kCancelWait});
    EXPECT_EQ(answers(*waiter), "\x01");
    send(*setter, {.kind = Kind::kSet, .keys = {"l"}, .values = {"v"}});
    EXPECT_EQ(answers(*waiter), "");
}

// More than there is room for on the way: the rest goes when the client has read, in order, also
// what another's command adds meanwhile.
TEST_F(StoreServerTest, AnswersAsFarAsTheClientReads) {
    auto slow = connect();
    auto setter = connect();
    const std::string large(1'000'000, 'x');
    send(*setter, {.kind = Kind::kSet, .keys = {"large"}, .values = {large}});
    send(*slow, {.kind = Kind::kGet, .keys = {"large"}});
    send(*slow, {.kind = Kind::kAdd, .keys = {"n"}, .number = 7});
    send(*slow, {.kind = Kind::kWait, .keys = {"k"}});
    send(*setter, {.kind = Kind::kSet, .keys = {"k"}, .values = {"v"}});
    const std::string said = answers(*slow);
    EXPECT_TRUE(said == text(large) + number(7) + std::string(1, '\0')) << said.size();
}

TEST_F(StoreServerTest, AClientThatLeavesItsAnswersUnreadHoldsUpNobody) {
    auto slow = connect();
    auto other = connect();
    const std::string large(1'000'000, 'x');
    send(*other, {.kind = Kind::kSet, .keys = {"large"}, .values = {large}});
    send(*slow, {.kind = Kind::kGet, .keys = {"large"}});
    send(*other, {.kind = Kind::kPing, .number = 0x04030201});
    EXPECT_EQ(answers(*other), "\x01\x02\x03\x04");
    slow.reset();
    settle();
    EXPECT_EQ(server->connections(), 1u);
}

TEST_F(StoreServerTest, AConnectionWhoseTaskFailsEndsAlone) {
    auto other = connect();
    const std::string large(1'000'000, 'x');
    send(*other, {.kind = Kind::kSet, .keys = {"large"}, .values = {large}});
    for (const char* task : {"store answers", "store connection"}) {
        const TaskFault fault(task);
        auto client = *listener->connect();
        const std::string asks = encode({.kind = Kind::kValidate, .number = kStoreMagic}) +
                                 encode({.kind = Kind::kGet, .keys = {"large"}});
        EXPECT_TRUE(await(client->write(asio::buffer(asks))));
        EXPECT_THAT(answers(*client), EndsWith("closed")) << task;
        EXPECT_EQ(fault.hits(), 1u) << task;
        EXPECT_EQ(server->connections(), 1u) << task;
        send(*other, {.kind = Kind::kPing, .number = 0x04030201});
        EXPECT_EQ(answers(*other), "\x01\x02\x03\x04") << task;
    }
}

TEST_F(StoreServerTest, WhatStaysAwakeInABurstBeginsAgainAfterAFault) {
    settle();
    const TaskFault fault("store burst");
    limit({});
    advance(1s);
    EXPECT_EQ(fault.hits(), 2u);
}

TEST_F(StoreServerTest, ConnectionsAreAcceptedAgainAfterAFault) {
    settle();
    {
        const TaskFault fault("store accept");
        limit({});
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(1s);
    auto client = connect();
    send(*client, {.kind = Kind::kPing, .number = 0x04030201});
    EXPECT_EQ(answers(*client), "\x01\x02\x03\x04");
}

TEST_F(StoreServerTest, ForgetsAWaiterThatIsGone) {
    auto waiter = connect();
    auto setter = connect();
    send(*waiter, {.kind = Kind::kWait, .keys = {"k"}});
    EXPECT_EQ(server->connections(), 2u);
    waiter.reset();
    settle();
    EXPECT_EQ(server->connections(), 1u);
    send(*setter, {.kind = Kind::kSet, .keys = {"k"}, .values = {"v"}});
    EXPECT_EQ(answers(*setter), "");
}

TEST_F(StoreServerTest, EndsEveryWaitWhenAGenerationEnds) {
    auto waiter = connect();
    send(*waiter, {.kind = Kind::kSet, .keys = {"old"}, .values = {"v"}});
    send(*waiter, {.kind = Kind::kWait, .keys = {"never"}});
    server->begin_anew();
    EXPECT_EQ(answers(*waiter), "closed");
    auto next = connect();
    send(*next, {.kind = Kind::kCheck, .keys = {"old"}});
    EXPECT_EQ(answers(*next), "\x01") << "it reads nothing of the attempt before";
    EXPECT_EQ(server->connections(), 1u);
}

TEST_F(StoreServerTest, CutsOffWhatIsNoClient) {
    auto stream = listener->connect();
    ASSERT_TRUE(stream);
    const std::string sent = "GET / HTTP/1.1\r\n\r\n";
    EXPECT_TRUE(await((*stream)->write(asio::buffer(sent))));
    EXPECT_EQ(answers(**stream), "closed");
    auto client = connect();
    send(*client, {.kind = Kind::kValidate, .number = kStoreMagic});
    EXPECT_EQ(answers(*client), "closed") << "twice";
    auto adder = connect();
    send(*adder, {.kind = Kind::kSet, .keys = {"k"}, .values = {"text"}});
    send(*adder, {.kind = Kind::kAdd, .keys = {"k"}, .number = 1});
    EXPECT_EQ(answers(*adder), "closed");
}

TEST_F(StoreServerTest, HoldsNoMoreThanItsLimits) {
    limit({.connections = 3, .entries = 2, .bytes = 1000, .in_flight = 2000});
    const auto client = connect();
    send(*client, {.kind = Kind::kSet, .keys = {"a"}, .values = {std::string(500, 'x')}});
    struct Case {
        const char* about;
        StoreCommand sent;
        std::string answer;
    };
    for (const Case& c : {
             Case{"keys",
                  {.kind = Kind::kMultiSet, .keys = {"b", "c"}, .values = {"", ""}},
                  "closed"},
             Case{"bytes",
                  {.kind = Kind::kAppend, .keys = {"a"}, .values = {std::string(500, 'x')}},
                  "closed"},
             Case{"bytes of waits",
                  {.kind = Kind::kWait, .keys = {std::string(900, 'k')}},
                  "closed"},
             Case{"an answer",
                  {.kind = Kind::kMultiGet, .keys = {"a", "a", "a", "a", "a"}},
                  "closed"},
             Case{"what fits", {.kind = Kind::kGetNumKeys}, number(1)},
         }) {
        auto other = connect();
        send(*other, c.sent);
        EXPECT_EQ(answers(*other), c.answer) << c.about;
    }
    auto half = connect();
    const std::string begun =
        encode({.kind = Kind::kSet, .keys = {"a"}, .values = {std::string(3000, 'x')}});
    EXPECT_TRUE(await(half->write(asio::buffer(begun.substr(0, 2500)))));
    EXPECT_EQ(answers(*half), "closed") << "of a command that is not whole";
    auto second = connect();
    auto third = connect();
    EXPECT_EQ(server->connections(), 3u);
    auto fourth = listener->connect();
    ASSERT_TRUE(fourth);
    EXPECT_EQ(answers(**fourth), "closed");
    EXPECT_EQ(answers(*client), "") << "it goes on";
}

TEST_F(StoreServerTest, RefusesWhoIsNotOfTheJob) {
    admitted = false;
    auto stream = listener->connect();
    ASSERT_TRUE(stream);
    EXPECT_EQ(answers(**stream), "closed");
    EXPECT_EQ(server->connections(), 0u);
}

}  // namespace
}  // namespace muster::tcp_store::server_test
