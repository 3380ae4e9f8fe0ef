#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>

#include "apiserver/fake_node.h"
#include "apiserver_http/front_fixture.h"
#include "apiserver_http/spdy/spdy_frames.h"
#include "base/async/task_fault.h"
#include "net/http/web_socket.h"

namespace muster::apiserver_http::port_forward_test {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

/// pods/NAME/portforward as clients see it: kubectl's SPDY in a WebSocket, and channels.
class PortForwardTest : public FrontFixture {
  protected:
    using Socket = std::unique_ptr<net::WebSocket>;

    void SetUp() override {
        server_->connect_node(node_);
        node_.add_container("default", "p", "main");
        node_.listen("default", "p", 80, port_);
        ASSERT_EQ(FrontFixture::post(kPods, R"({"metadata":{"name":"p"},"spec":{
                      "nodeName":"n1","containers":[{"name":"main","image":"a"}]}})")
                      .status,
                  201);
    }
    /// Before the node that its connections refer to.
    void TearDown() override { await(http_.stop()); }

    Result<Socket> connect(std::string protocol, const std::string& query = "") {
        return await(net::connect_web_socket(client_,
                                             request("GET", kPods + "/p/portforward" + query),
                                             {std::move(protocol)}, std::chrono::seconds(10), {}));
    }
    Socket tunnel() {
        auto socket = connect("SPDY/3.1+portforward.k8s.io");
        EXPECT_TRUE(socket) << socket.error().message();
        return socket ? *std::move(socket) : nullptr;
    }
    void say(net::WebSocket& socket, std::string message) {
        EXPECT_TRUE(await(socket.write(false, message)));
    }
    std::string hear(net::WebSocket& socket) {
        auto message = await(socket.read());
        EXPECT_TRUE(message) << message.error().message();
        if (!message) return "broken";
        if (*message) return (*message)->bytes;
        return fmt::format("closed {}", socket.closed()->code);
    }
    /// SYN_STREAM.
    std::string open(std::uint32_t stream, const std::string& type, const std::string& port,
                     const std::string& id) {
        std::string block =
            writer_.write({{"streamtype", type}, {"port", port}, {"requestid", id}});
        std::string body = number(stream) + number(0) + "\0\0"s + block;
        return "\x80\3\0\1"s + number(static_cast<std::uint32_t>(body.size())) + body;
    }
    static std::string number(std::uint32_t value) {
        std::string text;
        for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(value >> shift & 0xff);
        return text;
    }
    /// Both streams of a connection, and their replies.
    void open_both(net::WebSocket& socket, std::uint32_t first, const std::string& port) {
        const std::string id = std::to_string(first);
        say(socket, open(first, "error", port, id) + open(first + 2, "data", port, id));
        for (const std::uint32_t stream : {first, first + 2}) {
            const std::string reply = hear(socket);
            EXPECT_EQ(reply.substr(0, 4), "\x80\3\0\2"s);
            EXPECT_EQ(reply.substr(8, 4), number(stream));
        }
    }
    std::unique_ptr<net::ByteStream> accepted() {
        auto stream = await(port_.accept());
        EXPECT_TRUE(stream);
        return *std::move(stream);
    }
    std::string read(net::ByteStream& from) {
        std::string buffer(1000, '\0');
        const auto size = await(from.read_some(asio::buffer(buffer)));
        EXPECT_TRUE(size);
        return size ? buffer.substr(0, *size) : "broken";
    }
    void write(net::ByteStream& to, std::string bytes) {
        EXPECT_TRUE(await(to.write(asio::buffer(bytes))));
    }

    apiserver::FakeNode node_{context.get_executor(), clock};
    net::MemoryListener port_{context.get_executor()};
    SpdyHeaderWriter writer_;
};

TEST_F(PortForwardTest, BytesPassBothWaysAndEachEndIsTold) {
    const Socket socket = tunnel();
    open_both(*socket, 1, "80");
    const auto pod = accepted();
    say(*socket, SpdyEncoder::data(1, "", true) + SpdyEncoder::data(3, "hello", false));
    EXPECT_EQ(read(*pod), "hello");
    write(*pod, "world");
    EXPECT_EQ(hear(*socket), SpdyEncoder::data(3, "world", false));
    say(*socket, SpdyEncoder::data(3, "", true));
    EXPECT_EQ(read(*pod), "") << "the client has said all";
    write(*pod, "bye");
    EXPECT_EQ(hear(*socket), SpdyEncoder::data(3, "bye", false));
    pod->close();
    EXPECT_EQ(hear(*socket), SpdyEncoder::data(3, "", true) + SpdyEncoder::data(1, "", true));
}

TEST_F(PortForwardTest, ConnectionsAreApartAndANewOneComesAfterAnOld) {
    const Socket socket = tunnel();
    open_both(*socket, 1, "80");
    const auto first = accepted();
    open_both(*socket, 5, "80");
    const auto second = accepted();
    write(*second, "2");
    EXPECT_EQ(hear(*socket), SpdyEncoder::data(7, "2", false));
    write(*first, "1");
    EXPECT_EQ(hear(*socket), SpdyEncoder::data(3, "1", false));
    say(*socket, SpdyEncoder::reset(3, 5));
    EXPECT_EQ(read(*first), "") << "a reset ends that connection";
    say(*socket, SpdyEncoder::data(7, "still here", false));
    EXPECT_EQ(read(*second), "still here");
}

TEST_F(PortForwardTest, AConnectionOfWhichAPartFailsEndsAloneAndItsClientIsTold) {
    const Socket socket = tunnel();
    std::uint32_t stream = 1;
    for (const char* task : {"forwarded port", "input of a forwarded port"}) {
        const TaskFault fault(task);
        open_both(*socket, stream, "80");
        EXPECT_THAT(hear(*socket), HasSubstr("the log has it under the id")) << task;
        EXPECT_EQ(fault.hits(), 1u) << task;
        stream += 4;
    }
    (void)accepted();  // that of the second
    open_both(*socket, stream, "80");
    const auto pod = accepted();
    say(*socket, SpdyEncoder::data(stream + 2, "hello", false));
    EXPECT_EQ(read(*pod), "hello");
}

TEST_F(PortForwardTest, APortThatNobodyListensAtIsToldOnTheErrorStream) {
    const Socket socket = tunnel();
    open_both(*socket, 1, "81");
    EXPECT_EQ(hear(*socket),
              SpdyEncoder::data(3, "", true) +
                  SpdyEncoder::data(1, "connecting to 127.0.0.1:81: Connection refused", true));
    say(*socket, SpdyEncoder::ping(9));
    EXPECT_EQ(hear(*socket), SpdyEncoder::ping(9)) << "and the tunnel goes on";
}

TEST_F(PortForwardTest, StreamsThatMakeNoConnectionAreReset) {
    const Socket socket = tunnel();
    std::uint32_t stream = 1;
    const auto refused = [&](const std::string& type, const std::string& port,
                             const std::string& id) {
        stream += 2;
        say(*socket, open(stream, type, port, id));
        EXPECT_EQ(hear(*socket), SpdyEncoder::reset(stream, 1)) << type << port;
    };
    refused("data", "0", "a");
    refused("data", "http", "a");
    refused("data", "65536", "a");
    refused("other", "80", "a");
    stream += 2;
    say(*socket, open(stream, "error", "80", "b"));
    EXPECT_EQ(hear(*socket).substr(0, 4), "\x80\3\0\2"s);
    refused("error", "80", "b");
    refused("data", "81", "b");
    say(*socket, open(3, "error", "80", "c"));
    EXPECT_EQ(hear(*socket), SpdyEncoder::reset(3, 1)) << "an id is used once";
}

TEST_F(PortForwardTest, AClientThatBreaksTheProtocolIsToldAndItsConnectionsEnd) {
    const Socket socket = tunnel();
    open_both(*socket, 1, "80");
    const auto pod = accepted();
    say(*socket, "\x80\2\0\1\0\0\0\0"s);
    EXPECT_EQ(hear(*socket), "closed 1002");
    EXPECT_EQ(read(*pod), "");
}

TEST_F(PortForwardTest, AClientThatGoesAwayEndsItsConnections) {
    Socket socket = tunnel();
    open_both(*socket, 1, "80");
    const auto pod = accepted();
    socket.reset();
    EXPECT_EQ(read(*pod), "");
}

TEST_F(PortForwardTest, APodThatDoesNotReadHoldsItsClientUpAndNothingIsLost) {
    const Socket socket = tunnel();
    open_both(*socket, 1, "80");
    const auto pod = accepted();
    const std::string piece(100'000, 'x');
    std::size_t sent = 0;
    bool all_sent = false;
    asio::co_spawn(
        context,
        [](net::WebSocket& to, std::string bytes, std::size_t& count) -> Task<void> {
            for (int i = 0; i < 40; ++i) {
                if (!co_await to.write(false, SpdyEncoder::data(3, bytes, false))) co_return;
                count += bytes.size();
            }
        }(*socket, piece, sent),
        [&](const std::exception_ptr&) { all_sent = true; });
    settle();
    EXPECT_FALSE(all_sent);
    EXPECT_LT(sent, 2'000'000u);
    std::size_t received = 0;
    while (received < 4'000'000) received += read(*pod).size();
    EXPECT_TRUE(all_sent);
}

TEST_F(PortForwardTest, ChannelsOfOlderClients) {
    auto connected = connect("v4.channel.k8s.io", "?ports=80&ports=81");
    ASSERT_TRUE(connected) << connected.error().message();
    net::WebSocket& socket = **connected;
    EXPECT_EQ(hear(socket), "\0\x50\0"s);
    EXPECT_EQ(hear(socket), "\1\x50\0"s);
    EXPECT_EQ(hear(socket), "\2\x51\0"s);
    EXPECT_EQ(hear(socket), "\3\x51\0"s);
    EXPECT_EQ(hear(socket), "\3connecting to 127.0.0.1:81: Connection refused");
    const auto pod = accepted();
    say(socket, "\0hello"s);
    EXPECT_EQ(read(*pod), "hello");
    write(*pod, "world");
    EXPECT_EQ(hear(socket), "\0world"s);
    pod->close();
    EXPECT_EQ(hear(socket), "closed 1000") << "when all have ended";
}

TEST_F(PortForwardTest, WhatCanNotBeForwardedIsAnAnswer) {
    const auto refused = [&](const std::string& query) {
        const auto socket = connect("v4.channel.k8s.io", query);
        return socket ? "connected" : socket.error().message();
    };
    EXPECT_THAT(refused(""), HasSubstr("you must specify at least 1 port"));
    EXPECT_THAT(refused("?ports=80,0"), HasSubstr("is not a port: 1 to 65535"));
    EXPECT_EQ(reason(send(request("POST", kPods + "/p/portforward"))), "400 BadRequest");
    EXPECT_EQ(reason(get(kPods + "/q/portforward")), "404 NotFound");
}

}  // namespace
}  // namespace muster::apiserver_http::port_forward_test
