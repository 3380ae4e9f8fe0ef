#include <gmock/gmock.h>

#include "base/async/task_fault.h"
#include "rpc/internal/admission.h"
#include "rpc/internal/frames.h"
#include "rpc/method.h"
#include "rpc/rpc_fixture.h"

namespace muster::rpc::stream_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Task<Result<void>> nothing() { co_return Result<void>(); }
Task<Result<wire::Version>> a_version() { co_return wire::Version(); }

class RpcStreams : public RpcFixture {
  protected:
    RpcStreams() {
        Server& server = make_server();
        server.on_stream("count", [this](PeerPtr, std::string body, ItemWriter& out) {
            return count(std::move(body), out);
        });
        server.on_note("note", [this](const PeerPtr& peer, std::string body) {
            if (notes_throw) throw std::runtime_error("a handler's fault");
            notes.push_back(peer->about + ": " + body);
        });
        server.on_gone([this](const PeerPtr& peer, const Error& why) {
            gone.push_back(peer->client + ": " + why.message());
        });
        serve(server);
    }
    void readers_end() override { reader.reset(); }

    /// Items 1 to `body`, or without end.
    Task<Result<std::string>> count(std::string body, ItemWriter& out) {
        struct End {
            int& ended;
            ~End() { ++ended; }
        } const at_end{ended};
        for (int i = 1; body == "on" || i <= std::stoi(body); ++i) {
            CO_TRY_VOID(co_await out.write(std::to_string(i)));
            sent = i;
        }
        if (body == "13") co_return Error(Code::kGone, "unlucky");
        co_return std::string();
    }

    std::string next() {
        auto item = await(reader->next());
        if (!item) return std::string(to_string(item.error().code()));
        return *item ? **item : "end";
    }
    void open(Client& client, std::string body) {
        auto opened = await(client.open("count", std::move(body)));
        ASSERT_TRUE(opened) << opened.error().message();
        reader = *std::move(opened);
    }

    std::unique_ptr<ItemReader> reader;
    int sent = 0;
    int ended = 0;
    std::vector<std::string> notes;
    bool notes_throw = false;
    std::vector<std::string> gone;
};

TEST_F(RpcStreams, BringTheirItemsInOrderAndThenTheirEnd) {
    Client& client = make_client();
    open(client, "3");
    EXPECT_EQ(next(), "1");
    EXPECT_EQ(next(), "2");
    EXPECT_EQ(next(), "3");
    EXPECT_EQ(next(), "end");
    EXPECT_EQ(next(), "end");
    open(client, "13");
    for (int i = 1; i <= 13; ++i) EXPECT_EQ(next(), std::to_string(i));
    EXPECT_EQ(next(), "Gone");
    auto unknown = await(client.open("hum", ""));
    ASSERT_TRUE(unknown);
    reader = *std::move(unknown);
    EXPECT_EQ(next(), "Unsupported");
}

TEST_F(RpcStreams, WhatAHandlerThrowsEndsItsStreamAlone) {
    Client& client = make_client();
    open(client, "no number");
    EXPECT_EQ(next(), "Internal");
    open(client, "1");
    EXPECT_EQ(next(), "1");
    EXPECT_EQ(connects, 1);
}

TEST_F(RpcStreams, WhatIsThrownAtANoteEndsNothing) {
    notes_throw = true;
    Client& client = make_client();
    open(client, "1");
    EXPECT_TRUE(await(client.tell("note", "a")));
    advance(10ms);
    notes_throw = false;
    EXPECT_TRUE(await(client.tell("note", "b")));
    advance(10ms);
    EXPECT_THAT(notes, ElementsAre("a test: b"));
    EXPECT_EQ(connects, 1);
}

TEST_F(RpcStreams, AreNoFasterThanTheirReader) {
    ClientLimits limits;
    limits.credit = 8;
    Client& client = make_client(limits);
    open(client, "on");
    settle();
    EXPECT_EQ(sent, 8);
    for (int i = 1; i <= 3; ++i) EXPECT_EQ(next(), std::to_string(i));
    settle();
    EXPECT_EQ(sent, 8);
    EXPECT_EQ(next(), "4");
    settle();
    EXPECT_EQ(sent, 12) << "half of the room is told at once";
    for (int i = 5; i <= 1000; ++i) ASSERT_EQ(next(), std::to_string(i));
}

TEST_F(RpcStreams, EndWithTheirReader) {
    Client& client = make_client();
    open(client, "on");
    EXPECT_EQ(next(), "1");
    reader.reset();
    settle();
    EXPECT_EQ(ended, 1);
}

TEST_F(RpcStreams, EndWithTheirConnectionAndAreOpenedAgain) {
    Client& client = make_client();
    open(client, "on");
    EXPECT_EQ(next(), "1");
    cut();
    while (next() != "Unavailable") {
    }
    settle();
    EXPECT_EQ(ended, 1);
    open(client, "2");
    EXPECT_EQ(client.connection(), 2u);
    EXPECT_EQ(next(), "1");
    reader.reset();
}

TEST_F(RpcStreams, NotesArriveInOrder) {
    Client& client = make_client();
    const auto early = await(client.tell("note", "lost"));
    EXPECT_EQ(early.error().code(), Code::kUnavailable);
    settle();
    for (const char* text : {"one", "two", "three"}) EXPECT_TRUE(await(client.tell("note", text)));
    EXPECT_TRUE(await(client.tell("nobody's", "")));
    settle();
    EXPECT_THAT(notes, ElementsAre("a test: one", "a test: two", "a test: three"));
}

// They may come together, and a report must come after its join.
TEST_F(RpcStreams, HandlersAreCalledInTheOrderInWhichTheirClientSpoke) {
    std::vector<std::string> called;
    Server& server = make_server();
    rpc::serve(server, Stream<wire::Version, wire::Version>{"stream"},
               [&](const PeerPtr&, const wire::Version&, ItemSink<wire::Version>) {
                   called.push_back("stream");
                   return nothing();
               });
    rpc::serve(server, Call<wire::Version, wire::Version>{"call"},
               [&](const PeerPtr&, const wire::Version&) {
                   called.push_back("call");
                   return a_version();
               });
    rpc::serve(server, Note<wire::Version>{"note"},
               [&](const PeerPtr&, const wire::Version&) { called.push_back("note"); });
    serve(server);
    auto raw = listener->connect();
    ASSERT_TRUE(raw);
    std::string bytes;
    const auto add = [&](const wire::Frame& frame) {
        ASSERT_TRUE(append_frame(bytes, frame, 1000));
    };
    add(hello_frame({"secret", "raw", "raw"}, kVersion));
    const auto ask = [&](std::uint64_t id, const char* method, bool streams) {
        wire::Frame frame;
        frame.mutable_call()->set_id(id);
        frame.mutable_call()->set_method(method);
        frame.mutable_call()->set_streams(streams);
        add(frame);
    };
    wire::Frame note;
    note.mutable_note()->set_method("note");
    ask(1, "stream", true);
    add(note);
    ask(2, "call", false);
    add(note);
    ASSERT_TRUE(await((*raw)->write(asio::buffer(bytes))));
    settle();
    EXPECT_THAT(called, ElementsAre("stream", "note", "call", "note"));
    (*raw)->close();
}

TEST_F(RpcStreams, ANewConnectionOfAClientTakesThePlaceOfTheOld) {
    Client& first = make_client({}, "secret", "same");
    settle();
    EXPECT_TRUE(first.connected());
    make_client({}, "secret", "same");
    settle();
    ASSERT_TRUE(first.ended());
    EXPECT_EQ(first.ended()->code(), Code::kConflict);
    EXPECT_TRUE(clients[1]->connected());
    EXPECT_EQ(servers[0]->connections(), 1u);
    EXPECT_THAT(gone, ElementsAre()) << "it is there";
}

TEST_F(RpcStreams, WhoFallsSilentIsGone) {
    ClientLimits mute;
    mute.liveness.ping_after = 1h;
    mute.liveness.dead_after = 2h;
    make_client(mute, "secret", "mute");
    make_client({}, "secret", "alive");
    advance(4900ms);
    EXPECT_THAT(gone, ElementsAre());
    advance(1200ms);
    EXPECT_THAT(gone,
                ElementsAre(testing::MatchesRegex("mute: nothing was heard for [56][0-9]{3} ms")));
    advance(1h);
    EXPECT_THAT(gone, testing::Each(testing::StartsWith("mute")));
}

TEST_F(RpcStreams, AServerMayKeepToAnotherLimitOfSilence) {
    ClientLimits slow;
    slow.liveness.ping_after = 10s;
    slow.liveness.dead_after = 30s;
    make_client(slow, "secret", "early");
    settle();
    servers[0]->keep_to({.dead_after = 30s});
    make_client(slow, "secret", "late");
    advance(25s);
    EXPECT_THAT(gone, ElementsAre()) << "they ping often enough";
    servers[0]->keep_to({.dead_after = 500ms});
    advance(2s);
    EXPECT_THAT(gone, testing::SizeIs(testing::Ge(2u)));
}

TEST_F(RpcStreams, ASilentServerIsGivenUp) {
    Client& client = make_client();
    settle();
    EXPECT_TRUE(client.connected());
    // A server that accepts the connection and sends nothing.
    auto deaf = std::make_unique<net::MemoryListener>(context.get_executor());
    listener = deaf.get();
    cut();
    advance(9s);
    EXPECT_FALSE(client.connected());
    advance(3s);
    EXPECT_EQ(client.trouble()->message(), "the server said nothing within 10000 ms");
    listener = nullptr;
}

TEST_F(RpcStreams, SilenceIsNoticedOnBothSidesAfterAFaultOfWhatListensForIt) {
    ClientLimits mute;
    mute.liveness.ping_after = 1h;
    mute.liveness.dead_after = 2h;
    {
        const TaskFault fault("rpc deadlines");
        make_client(mute, "secret", "mute");
        make_client();
        settle();
        EXPECT_EQ(fault.hits(), 3u) << "the server's and the clients'";
    }
    advance(8s);
    EXPECT_THAT(gone, ElementsAre(testing::StartsWith("mute: nothing was heard for ")));
    auto deaf = std::make_unique<net::MemoryListener>(context.get_executor());
    listener = deaf.get();
    cut();
    advance(15s);
    EXPECT_EQ(clients[1]->trouble()->message(), "the server said nothing within 10000 ms");
    listener = nullptr;
}

TEST_F(RpcStreams, AnotherProgramWhereTheServerShouldBeIsToldFromNoneAtAll) {
    net::MemoryListener other(context.get_executor());
    listener = &other;
    Client& client = make_client();
    settle();
    EXPECT_EQ(client.trouble()->message(), "the server does not answer");
    auto accepted = await(other.accept());
    ASSERT_TRUE(accepted);
    const std::string page = "HTTP/1.1 400 Bad Request\r\n\r\n";
    ASSERT_TRUE(await((*accepted)->write({asio::buffer(page)})));
    settle();
    EXPECT_THAT(client.trouble()->message(),
                testing::StartsWith("the other side does not speak this protocol: a message of "));
    listener = nullptr;
}

TEST_F(RpcStreams, WhoDoesNotSayWhoHeIsIsCutOff) {
    auto stream = listener->connect();
    ASSERT_TRUE(stream);
    settle();
    char byte = 0;
    const auto read = await((*stream)->read_some(asio::buffer(&byte, 1)));
    EXPECT_TRUE(!read || *read == 0);
    EXPECT_EQ(servers[0]->connections(), 0u);
}

TEST_F(RpcStreams, AServerThatStopsSaysSo) {
    Client& client = make_client();
    settle();
    await(servers[0]->stop());
    listener = nullptr;
    settle();
    EXPECT_FALSE(client.connected());
    EXPECT_EQ(client.trouble()->message(), "this server is stopping");
    EXPECT_FALSE(client.ended());
}

}  // namespace
}  // namespace muster::rpc::stream_test
