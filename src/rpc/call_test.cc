#include <gmock/gmock.h>

#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/time/time_limit.h"
#include "rpc/internal/admission.h"
#include "rpc/internal/frames.h"
#include "rpc/rpc_fixture.h"

namespace muster::rpc::call_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string outcome(const Result<std::string>& result) {
    return result ? *result
                  : std::string(to_string(result.error().code())) + ": " + result.error().message();
}

/// Calls, and writes down what became of it.
Task<void> note_outcome(Client& client, std::string method, std::string body, Duration time,
                        Repeat repeat, std::vector<std::string>& into) {
    into.push_back(outcome(co_await client.call(std::move(method), std::move(body), time, repeat)));
}

/// Sends these bytes, and reads frames to the end.
Task<std::vector<Frame>> exchange(net::ByteStream& stream, std::string bytes) {
    std::vector<Frame> frames;
    if (!co_await stream.write(asio::buffer(bytes))) co_return frames;
    FrameReader reader(5000);
    std::array<char, 1000> piece{};
    for (;;) {
        const auto size = co_await stream.read_some(asio::buffer(piece));
        if (!size || *size == 0) co_return frames;
        reader.put({piece.data(), *size});
        for (auto frame = reader.next(); frame && *frame; frame = reader.next())
            frames.push_back(**std::move(frame));
    }
}

/// All that comes.
Task<std::string> read_bytes(net::ByteStream& stream) {
    std::string all;
    std::array<char, 100> piece{};
    for (;;) {
        const auto size = co_await stream.read_some(asio::buffer(piece));
        if (!size || *size == 0) co_return all;
        all.append(piece.data(), *size);
    }
}

class RpcCalls : public RpcFixture {
  protected:
    /// Adds to `total` what it is asked to, after `pause`, and says how much it is then.
    Server& adding_server(Duration pause = {}, ServerLimits limits = {}) {
        Server& server = make_server(limits);
        server.on_call("add", [this, pause](PeerPtr peer, std::string body) {
            return add(std::move(peer), std::move(body), pause);
        });
        server.on_gone([this](const PeerPtr& peer, const Error& why) {
            gone.push_back(peer->client + ": " + why.message());
        });
        return server;
    }

    Task<Result<std::string>> add(PeerPtr, std::string body, Duration pause) {
        ++begun;
        if (pause > Duration::zero()) co_await clock.sleep_for(pause);
        if (body == "bad")
            co_return Error(Code::kInvalid, "no number")
                .with_causes({{"FieldValueInvalid", "m", "f"}});
        total += std::stoi(body);
        co_return std::to_string(total);
    }

    int begun = 0;
    int total = 0;
    std::vector<std::string> gone;
};

TEST_F(RpcCalls, GetTheirAnswers) {
    serve(adding_server());
    Client& client = make_client();
    EXPECT_EQ(outcome(await(client.call("add", "2", 1s))), "2");
    EXPECT_EQ(outcome(await(client.call("add", "3", 1s))), "5");
    const auto failed = await(client.call("add", "bad", 1s));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), Code::kInvalid);
    EXPECT_THAT(failed.error().causes(), ElementsAre(Cause{"FieldValueInvalid", "m", "f"}));
    EXPECT_EQ(outcome(await(client.call("subtract", "3", 1s))),
              "Unsupported: this server has no subtract");
    EXPECT_EQ(servers[0]->connections(), 1u);
}

Task<Result<std::string>> never_begun() { throw std::runtime_error("a handler's fault"); }

TEST_F(RpcCalls, WhatAHandlerThrowsIsTheAnswerToItsCallAlone) {
    Server& server = adding_server();
    server.on_call("at once", [](PeerPtr, std::string) { return never_begun(); });
    server.on_call("before", [](PeerPtr, std::string) -> Task<Result<std::string>> {
        throw std::runtime_error("a handler's fault");
    });
    serve(server);
    Client& client = make_client();
    for (const char* method : {"add", "at once", "before"})  // "x" is not a number to add
        EXPECT_THAT(outcome(await(client.call(method, "x", 1s))),
                    HasSubstr("an internal error; the log has it under the id "))
            << method;
    EXPECT_EQ(outcome(await(client.call("add", "2", 1s))), "2");
    EXPECT_EQ(connects, 1) << "the connection stays";
}

TEST_F(RpcCalls, AConnectionWhoseTaskFailsEndsAndTheNextOneServes) {
    serve(adding_server());
    for (const char* task : {"rpc connection", "rpc writer"}) {
        Client* client = nullptr;
        {
            const TaskFault fault(task);
            client = &make_client();
            advance(10ms);
            EXPECT_GT(fault.hits(), 0u) << task;
        }
        EXPECT_THAT(outcome(await(client->call("add", "0", 60s))), testing::Not(HasSubstr(":")))
            << task;
    }
    EXPECT_EQ(servers[0]->connections(), 2u);
}

TEST_F(RpcCalls, AreServedAfterAFaultOfWhatServesThemAll) {
    for (const char* task : {"rpc accept", "rpc client"}) {
        {
            const TaskFault fault(task);
            serve(adding_server());
            make_client();
            settle();
            EXPECT_EQ(fault.hits(), 1u) << task;
        }
        EXPECT_EQ(outcome(await(clients.back()->call("add", "0", 3s))), "0") << task;
    }
}

TEST_F(RpcCalls, AFaultInTheMakingOfAConnectionIsLikeAConnectionThatFails) {
    serve(adding_server());
    connect_throws = true;
    Client& client = make_client();
    settle();
    ASSERT_TRUE(client.trouble());
    EXPECT_THAT(client.trouble()->message(), HasSubstr("the log has it under the id"));
    connect_throws = false;
    EXPECT_EQ(outcome(await(client.call("add", "1", 3s))), "1");
}

TEST_F(RpcCalls, WaitForAConnection) {
    Client& client = make_client();
    const auto early = await(client.call("add", "1", 300ms));
    EXPECT_EQ(outcome(early), "Timeout: add: no answer within 300 ms: nobody listens");
    EXPECT_GT(connects, 3);
    std::vector<std::string> said;
    tasks.spawn("caller", note_outcome(client, "add", "1", 60s, Repeat::kNever, said));
    advance(10s);
    EXPECT_TRUE(said.empty());
    serve(adding_server());
    run_until([&] { return !said.empty(); });
    EXPECT_THAT(said, ElementsAre("1"));
    EXPECT_EQ(total, 1) << "what was given up was not sent";
}

TEST_F(RpcCalls, HaveOneEffectWhenTheConnectionBreaks) {
    serve(adding_server(500ms));
    Client& client = make_client();
    std::vector<std::string> said;
    tasks.spawn("caller", note_outcome(client, "add", "4", 10s, Repeat::kNever, said));
    advance(100ms);
    EXPECT_EQ(begun, 1);
    cut();
    advance(100ms);
    EXPECT_EQ(client.connection(), 2u);
    cut();
    run_until([&] { return !said.empty(); });
    EXPECT_THAT(said, ElementsAre("4"));
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(outcome(await(client.call("add", "1", 10s))), "5");
}

TEST_F(RpcCalls, TheAnswerWaitsForAClientThatIsAway) {
    serve(adding_server(500ms));
    Client& client = make_client();
    std::vector<std::string> said;
    tasks.spawn("caller", note_outcome(client, "add", "4", 60s, Repeat::kNever, said));
    advance(100ms);
    net::MemoryListener* there = std::exchange(listener, nullptr);
    cut();
    advance(5s);
    EXPECT_EQ(total, 4) << "it ran to its end";
    EXPECT_TRUE(said.empty());
    EXPECT_THAT(gone, ElementsAre("client-0: the client left"));
    listener = there;
    run_until([&] { return !said.empty(); });
    EXPECT_THAT(said, ElementsAre("4"));
    EXPECT_EQ(begun, 1);
}

TEST_F(RpcCalls, ANewServerIsAskedAgainOnlyWhereThatDoesNoHarm) {
    serve(adding_server(500ms));
    Client& client = make_client();
    std::vector<std::string> said;
    const auto ask = [&](Repeat repeat) {
        tasks.spawn("caller", note_outcome(client, "add", "1", 60s, repeat, said));
    };
    ask(Repeat::kNever);
    ask(Repeat::kFreely);
    advance(100ms);
    serve(adding_server());
    cut();
    run_until([&] { return said.size() == 2; });
    EXPECT_THAT(said, testing::UnorderedElementsAre("Timeout: the connection to the server broke; "
                                                    "whether the call was carried out is not known",
                                                    "1"));
}

TEST_F(RpcCalls, EndWithTheirTime) {
    serve(adding_server(10s));
    Client& client = make_client();
    const auto late = await(client.call("add", "1", 2s));
    EXPECT_EQ(outcome(late), "Timeout: add: no answer within 2000 ms");
    advance(60s);
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(total, 0) << "nothing waits for it any more, so it was cancelled";
}

TEST_F(RpcCalls, EndWithTheirCaller) {
    serve(adding_server(10s));
    Client& client = make_client();
    const auto dropped = await(within(clock, 1s, client.call("add", "1", 60s)));
    EXPECT_FALSE(dropped.has_value());
    advance(60s);
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(total, 0);
}

TEST_F(RpcCalls, OneThatTakesLongIsInNobodysWay) {
    ServerLimits limits;
    limits.calls = 8;
    serve(adding_server({}, limits));
    servers[0]->on_call("sleep", [this](PeerPtr, std::string) { return add({}, "0", 1h); });
    ClientLimits mine;
    mine.calls = 4;
    Client& client = make_client(mine);
    std::vector<std::string> never;
    tasks.spawn("sleeper", note_outcome(client, "sleep", "", 2h, Repeat::kNever, never));
    for (int i = 1; i <= 50; ++i)
        ASSERT_EQ(outcome(await(client.call("add", "1", 1s))), std::to_string(i));
}

TEST_F(RpcCalls, MoreThanAllowedWait) {
    ServerLimits limits;
    limits.calls = 4;
    serve(adding_server(100ms, limits));
    ClientLimits mine;
    mine.calls = 2;
    Client& client = make_client(mine);
    std::vector<std::string> done;
    for (int i = 0; i < 10; ++i)
        tasks.spawn("caller", note_outcome(client, "add", "1", 10s, Repeat::kNever, done));
    advance(450ms);
    EXPECT_EQ(begun, 10);
    run_until([&] { return done.size() == 10; });
    EXPECT_EQ(total, 10);
}

TEST_F(RpcCalls, TooLongOnesAreRefused) {
    ServerLimits limits;
    limits.longest_frame = 5000;
    Server& server = adding_server({}, limits);
    server.on_call("much", [](PeerPtr, std::string) -> Task<Result<std::string>> {
        co_return std::string(6000, 'x');
    });
    serve(server);
    ClientLimits mine;
    mine.longest_frame = 20'000;
    Client& client = make_client(mine);
    EXPECT_THAT(outcome(await(client.call("add", std::string(30'000, '1'), 1s))),
                HasSubstr("TooLarge: a message of 30"));
    EXPECT_THAT(outcome(await(client.call("much", "", 1s))),
                HasSubstr("TooLarge: the answer has 60"));
    // The server has said what it takes, so its connection does not end by it.
    EXPECT_THAT(outcome(await(client.call("add", std::string(6000, '1'), 1s))),
                HasSubstr("at most 5000 are allowed here"));
    EXPECT_EQ(client.connection(), 1u);
}

TEST_F(RpcCalls, WhoSendsWhatIsNoneIsToldSoAndCutOff) {
    ServerLimits limits;
    limits.longest_frame = 5000;
    serve(adding_server({}, limits));
    for (const auto& [sent, wanted] :
         {std::pair<std::string, std::string>(
              std::string("\xff\xff\0\0", 4),
              "a message of 65535 bytes; at most 5000 are allowed here"),
          {std::string("\x04\0\0\0GET ", 8), "not a message of this protocol"},
          {std::string("\x02\0\0\0\x12\0", 6), "a message that only servers send"}}) {
        auto stream = listener->connect();
        ASSERT_TRUE(stream);
        std::string bytes;
        ASSERT_TRUE(append_frame(bytes, hello_frame({"secret", "raw", "raw"}, kVersion), 1000));
        const auto said = await(exchange(**stream, bytes + sent));
        ASSERT_EQ(said.size(), 2u) << wanted;
        ASSERT_TRUE(said[1].has_farewell());
        EXPECT_EQ(said[1].farewell().failure().message(), wanted);
        (*stream)->close();
        settle();
        EXPECT_THAT(gone, testing::Contains("raw: " + wanted));
    }
}

// As torch 2.7 begins: VALIDATE with its number, PING with the id of the process, whose answer has to
// be the same. And as torch 1.13 does: COMPARE_SET.
TEST_F(RpcCalls, ClientsOfTorchsStoreAreTurnedAwayAtOnceAndTheLogSaysSoOnce) {
    int logged = 0;
    log::set_sink([&](log::Level, std::string_view line) {
        if (line.find("torch's own torchrun calls where agents of muster-run meet") != line.npos)
            ++logged;
    });
    serve(adding_server());
    const Instant begins = clock.now();
    const std::string today("\0\xCE\xF7\x85\x3C\x0D\x01\x02\0\0", 10);
    const std::string before = std::string("\x01\x13\0\0\0\0\0\0\0", 9) + "/torch.rendezvous.a";
    for (const std::string& hello : {today, before, today, before}) {
        auto stream = listener->connect();
        ASSERT_TRUE(stream);
        ASSERT_TRUE(await((*stream)->write(asio::buffer(hello))));
        EXPECT_EQ(await(read_bytes(**stream)), "\xff\xff\xff\xff");
    }
    log::set_sink({});
    EXPECT_EQ(logged, 1);
    EXPECT_EQ(clock.now(), begins);
    Client& client = make_client();
    EXPECT_EQ(outcome(await(client.call("add", "2", 1s))), "2");
}

// On its way what was said on one connection may be overtaken by what is said on the next.
TEST_F(RpcCalls, AConnectionThatItsClientHasGivenUpTakesNobodysPlace) {
    serve(adding_server());
    Client& client = make_client({}, "secret", "c");
    EXPECT_EQ(outcome(await(client.call("add", "1", 10s))), "1");
    cut();
    EXPECT_EQ(outcome(await(client.call("add", "1", 10s))), "2");
    auto late = listener->connect();
    ASSERT_TRUE(late);
    std::string bytes;
    ASSERT_TRUE(append_frame(bytes, hello_frame({"secret", "c", "late", 1}, kVersion), 1000));
    const auto said = await(exchange(**late, bytes));
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0].farewell().failure().message(), "this client has connected again since");
    EXPECT_EQ(outcome(await(client.call("add", "1", 10s))), "3");
    EXPECT_EQ(connects, 2) << "nothing has disturbed it";
}

TEST_F(RpcCalls, AWrongTokenEndsTheClient) {
    serve(adding_server());
    Client& client = make_client({}, "guess");
    const auto refused = await(client.call("add", "1", 10s));
    EXPECT_EQ(outcome(refused), "Unauthorized: this is not the token of the job served here");
    ASSERT_TRUE(client.ended());
    EXPECT_EQ(outcome(await(client.call("add", "1", 10s))), outcome(refused));
    EXPECT_EQ(connects, 1);
    EXPECT_EQ(servers[0]->connections(), 0u);
}

// Many calls over connections that break at any moment: each has one effect, and the right answer.
TEST_F(RpcCalls, HaveOneEffectWhateverBreaksWhen) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        begun = total = 0;
        Rng chance(seed);
        serve(adding_server(20ms));
        ClientLimits mine;
        mine.calls = 5;
        Client& client = make_client(mine);
        std::vector<std::string> answers;
        std::vector<std::string> wanted;
        for (int i = 1; i <= 100; ++i) {
            wanted.push_back(std::to_string(i));
            tasks.spawn("caller", note_outcome(client, "add", "1", 1h, Repeat::kNever, answers));
        }
        while (answers.size() < 100) {
            advance(std::chrono::microseconds(chance.below(60'000)));
            if (chance.chance(0.7)) cut();
        }
        ASSERT_EQ(begun, 100) << "seed " << seed;
        ASSERT_THAT(answers, testing::UnorderedElementsAreArray(wanted)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace muster::rpc::call_test
