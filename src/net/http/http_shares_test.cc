#include <gmock/gmock.h>

#include <tuple>

#include "net/http/http_server_fixture.h"

// What one client may take from the others: connections before it is identified.

namespace muster::net {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr std::string_view kKnown = "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: yes\r\n\r\n";
constexpr std::string_view kStranger = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

class Shares : public ServerFixture {
  protected:
    /// Knows clients with an authorization.
    void start_guarded(HttpServerLimits limits) {
        start([this](HttpExchange& exchange) { return guard(exchange); }, limits);
    }
    Task<void> guard(HttpExchange& exchange) {
        const HttpRequest& request = exchange.request();
        if (!request.headers.contains("Authorization")) {
            exchange.respond(401, {}, "who?");
            co_return;
        }
        exchange.know_client();
        ++served_;
        if (request.path() == "/wait") co_await clock.sleep_for(10s);
        exchange.respond(200, {}, std::to_string(request.body.size()));
    }
    std::unique_ptr<ByteStream> connect_and_send(std::string_view text) {
        auto stream = connect();
        send(*stream, std::string(text));
        settle();
        return stream;
    }
    std::string first_line(ByteStream& stream) { return await(read_until(stream, "\r\n")); }

    int served_ = 0;
};

TEST_F(Shares, AStrangerWhoIsSilentMakesRoomForTheNextClient) {
    start_guarded({.connections = 10, .strangers = 3});
    auto oldest = connect_and_send("");
    auto second = connect_and_send(kStranger);
    auto third = connect_and_send("GET / HT");
    EXPECT_EQ(server_->connections(), 3u);
    auto fourth = connect_and_send(kKnown);
    EXPECT_EQ(await(read_to_end(*oldest)), "");
    EXPECT_EQ(first_line(*fourth), "HTTP/1.1 200 OK\r\n");
    // It is no longer a stranger, and keeps its place.
    std::vector<std::unique_ptr<ByteStream>> many;
    for (int i = 0; i < 20; ++i) many.push_back(connect_and_send(""));
    EXPECT_THAT(await(read_to_end(*second)), StartsWith("HTTP/1.1 401"));
    EXPECT_EQ(await(read_to_end(*third)), "");
    EXPECT_EQ(server_->connections(), 4u);
    send(*fourth, std::string(kKnown));
    EXPECT_THAT(await(read_until(*fourth, "HTTP/1.1 200")), EndsWith("HTTP/1.1 200"));
}

TEST_F(Shares, AStrangerMakesRoomEvenIfItHasNotBegun) {
    start_guarded({.connections = 10, .strangers = 1});
    settle();
    auto first = connect();  // accepted together with the second, before its task begins
    auto second = connect_and_send(kKnown);
    EXPECT_EQ(server_->connections(), 1u);
    EXPECT_EQ(await(read_to_end(*first)), "");
    EXPECT_EQ(first_line(*second), "HTTP/1.1 200 OK\r\n");
}

TEST_F(Shares, StrangersGoFirstWhenThereIsNoRoomAtAll) {
    start_guarded({.connections = 4, .strangers = 4});
    std::vector<std::unique_ptr<ByteStream>> known;
    for (int i = 0; i < 3; ++i) known.push_back(connect_and_send(kKnown));
    auto stranger = connect_and_send("");
    known.push_back(connect_and_send(kKnown));
    EXPECT_EQ(first_line(*known.back()), "HTTP/1.1 200 OK\r\n");
    EXPECT_EQ(await(read_to_end(*stranger)), "");
    // Known clients make no room.
    EXPECT_EQ(status_line(conversation(std::string(kKnown))), "HTTP/1.1 503 Service Unavailable");
    settle();
    EXPECT_EQ(server_->connections(), 4u);
}

TEST_F(Shares, StrangersAreIdleForAShorterTime) {
    start_guarded({.strangers = 10, .idle_time = 100s, .idle_time_of_strangers = 10s});
    auto stranger = connect_and_send(kStranger);
    auto known = connect_and_send(kKnown);
    advance(9s);
    EXPECT_EQ(server_->connections(), 2u);
    advance(2s);
    EXPECT_EQ(server_->connections(), 1u);
    advance(100s);
    EXPECT_EQ(server_->connections(), 0u);
}

}  // namespace
}  // namespace muster::net
