#include <gmock/gmock.h>

#include <tuple>

#include "net/http/http_server_fixture.h"

// What one client may take from the others: connections, memory, and time before it is identified.

namespace muster::net::http_shares_test {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kKnown = "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: yes\r\n\r\n";
constexpr std::string_view kStranger = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

class Shares : public ServerFixture {
  protected:
    /// Knows clients with an authorization, and reads only their bodies.
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
        if (request.headers.contains("X-Admin")) exchange.exempt_from_budget();
        if (!exchange.hold_request()) {
            exchange.respond(429, {}, "no room");
            co_return;
        }
        if (!co_await exchange.read_body()) co_return;
        ++served_;
        if (request.path() == "/made" && !exchange.hold_answer(300'000)) {
            exchange.respond(429, {}, "not made");
            co_return;
        }
        if (request.path() == "/made") co_await clock.sleep_for(1s);
        if (request.path() == "/wait") co_await clock.sleep_for(10s);
        if (request.path() == "/large")
            exchange.respond(200, {}, std::string(300'000, 'x'));
        else
            exchange.respond(200, {}, std::to_string(request.body.size()));
    }
    std::unique_ptr<ByteStream> connect_and_send(std::string_view text) {
        auto stream = connect();
        send(*stream, std::string(text));
        settle();
        return stream;
    }
    std::string first_line(ByteStream& stream) { return await(read_until(stream, "\r\n")); }
    static std::string post(std::string_view fields, std::size_t size) {
        return fmt::format("POST / HTTP/1.1\r\nHost: h\r\n{}Content-Length: {}\r\n\r\n", fields,
                           size);
    }

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

TEST_F(Shares, ABodyIsReadOnceItsHandlerWantsIt) {
    start_guarded({});
    // The answer comes before the body, and does not wait for it.
    for (const char* fields : {"", "Expect: 100-continue\r\n"}) {
        auto stranger = connect_and_send(post(fields, 3'000'000));
        const std::string answer = await(read_to_end(*stranger));
        EXPECT_EQ(status_line(answer), "HTTP/1.1 401 Unauthorized") << fields;
        EXPECT_THAT(answer, HasSubstr("Connection: close"));
        EXPECT_THAT(answer, testing::Not(HasSubstr("100 Continue")));
    }
    EXPECT_EQ(served_, 0);
    // A client that sends it nevertheless gets its answer, too.
    auto sender = connect_and_send(post("", 1'000'000) + std::string(1'000'000, 'x'));
    EXPECT_EQ(status_line(await(read_to_end(*sender))), "HTTP/1.1 401 Unauthorized");

    auto known = connect_and_send(post("Authorization: yes\r\nExpect: 100-continue\r\n", 200'000));
    EXPECT_EQ(await(read_until(*known, "\r\n\r\n")), "HTTP/1.1 100 Continue\r\n\r\n");
    send(*known, std::string(200'000, 'x'));
    EXPECT_THAT(await(read_until(*known, "200000")), StartsWith("HTTP/1.1 200 OK"));
    send(*known, std::string(kKnown));
    EXPECT_THAT(first_line(*known), StartsWith("HTTP/1.1 200")) << "the connection stays";
}

TEST_F(Shares, ABodyThatCameWithItsHeadLeavesTheConnectionAsItIs) {
    start_guarded({});
    auto stream = connect_and_send(post("", 5) + "hello" + std::string(kKnown));
    EXPECT_THAT(await(read_until(*stream, "HTTP/1.1 200")), StartsWith("HTTP/1.1 401"));
}

TEST_F(Shares, APortWithoutBodiesRefusesThem) {
    start_guarded({.body_bytes = 0});
    EXPECT_EQ(status_line(conversation(post("Authorization: yes\r\n", 1))),
              "HTTP/1.1 413 Content Too Large");
    EXPECT_EQ(
        status_line(conversation("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                                 "\r\n1\r\na\r\n0\r\n\r\n")),
        "HTTP/1.1 413 Content Too Large");
    auto without = connect_and_send(post("Authorization: yes\r\n", 0));
    EXPECT_EQ(first_line(*without), "HTTP/1.1 200 OK\r\n");
}

TEST_F(Shares, BodiesOfAllConnectionsHaveOneBudget) {
    const auto budget = std::make_shared<ByteBudget>(2'000'000);
    start_guarded({.budget = budget});
    const std::string fields = "Authorization: yes\r\n";
    auto first = connect_and_send(post(fields, 1'000'000) + std::string(400'000, 'x'));
    EXPECT_GE(budget->used(), 400'000u);
    auto second = connect_and_send(post(fields, 1'000'000) + std::string(900'000, 'x'));
    const std::string answer = await(read_to_end(*second));
    EXPECT_EQ(status_line(answer), "HTTP/1.1 429 Too Many Requests");
    EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
    // An administrator gets through, and so does a small request.
    auto admin =
        connect_and_send(post(fields + "X-Admin: yes\r\n", 900'000) + std::string(900'000, 'x'));
    EXPECT_THAT(first_line(*admin), StartsWith("HTTP/1.1 200"));
    auto small = connect_and_send(kKnown);
    EXPECT_THAT(first_line(*small), StartsWith("HTTP/1.1 200"));
    // A single body may exceed the budget.
    send(*first, std::string(600'000, 'x'));
    EXPECT_THAT(await(read_until(*first, "1000000")), StartsWith("HTTP/1.1 200"));
    EXPECT_EQ(budget->used(), 0u);
}

TEST_F(Shares, LargeHeadsOfKnownClientsAreCountedWhileTheyAreIncomplete) {
    const auto budget = std::make_shared<ByteBudget>(128'000);
    start_guarded({.budget = budget, .strangers = 100});
    const std::string begun =
        "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: yes\r\nX: " + std::string(20'000, 'x');
    const auto known = [&](std::string_view admin = "") {
        auto stream = connect_and_send(
            fmt::format("GET / HTTP/1.1\r\nHost: h\r\nAuthorization: yes\r\n{}\r\n", admin));
        EXPECT_THAT(await(read_until(*stream, "\r\n\r\n0")), StartsWith("HTTP/1.1 200"));
        return stream;
    };
    // Each has a buffer of 32 KiB: there is room for three.
    std::vector<std::unique_ptr<ByteStream>> many;
    for (int i = 0; i < 3; ++i) {
        many.push_back(known());
        send(*many.back(), begun);
    }
    settle();
    EXPECT_GE(budget->used(), 60'000u);
    EXPECT_LE(budget->used(), 128'000u);
    auto refused = known();
    send(*refused, begun);
    const std::string answer = await(read_to_end(*refused));
    EXPECT_EQ(status_line(answer), "HTTP/1.1 429 Too Many Requests");
    EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
    // Small requests need no room, and the next one of an administrator is probably theirs as well.
    auto admin = known("X-Admin: yes\r\n");
    send(*admin, begun + "\r\nX-Admin: yes\r\n\r\n");
    EXPECT_EQ(first_line(*admin), "HTTP/1.1 200 OK\r\n");
    for (const auto& stream : many) {
        send(*stream, "\r\n\r\n");
        EXPECT_EQ(first_line(*stream), "HTTP/1.1 200 OK\r\n");
    }
    EXPECT_EQ(budget->used(), 0u);
}

TEST_F(Shares, LargeHeadsAreCountedWhileTheirRequestsAreServed) {
    const auto budget = std::make_shared<ByteBudget>(150'000);
    start_guarded({.budget = budget, .strangers = 100});
    const std::string waits = "GET /wait HTTP/1.1\r\nHost: h\r\nAuthorization: yes\r\n";
    const std::string large = waits + "X: " + std::string(20'000, 'x') + "\r\n";
    auto first = connect_and_send(large + "\r\n");
    auto second = connect_and_send(large + "\r\n");
    EXPECT_GE(budget->used(), 80'000u) << "the buffer and what was read from it";
    auto refused = connect_and_send(large + "\r\n");
    EXPECT_THAT(await(read_until(*refused, "no room")), StartsWith("HTTP/1.1 429"));
    auto admin = connect_and_send(large + "X-Admin: yes\r\n\r\n");
    auto small = connect_and_send(waits + "\r\n");
    advance(11s);
    for (const auto* served : {&first, &second, &admin, &small})
        EXPECT_EQ(first_line(**served), "HTTP/1.1 200 OK\r\n");
    EXPECT_EQ(budget->used(), 0u);
}

TEST_F(Shares, SmallBodiesAreCountedWhileTheyAreAwaited) {
    const auto budget = std::make_shared<ByteBudget>(150'000);
    start_guarded({.budget = budget, .strangers = 100});
    const std::string fields = "Authorization: yes\r\n";
    auto first = connect_and_send(post(fields, 60'000) + "x");
    auto second = connect_and_send(post(fields, 60'000) + "x");
    EXPECT_GE(budget->used(), 120'000u) << "they wait with large buffers";
    auto refused = connect_and_send(post(fields, 60'000) + "x");
    EXPECT_EQ(status_line(await(read_to_end(*refused))), "HTTP/1.1 429 Too Many Requests");
    auto admin =
        connect_and_send(post(fields + "X-Admin: yes\r\n", 60'000) + std::string(60'000, 'x'));
    EXPECT_EQ(first_line(*admin), "HTTP/1.1 200 OK\r\n");
    auto small = connect_and_send(post(fields, 3'000) + std::string(3'000, 'x'));
    EXPECT_EQ(first_line(*small), "HTTP/1.1 200 OK\r\n") << "it came with its head";
    second->close();
    settle();
    send(*first, std::string(59'999, 'x'));
    EXPECT_THAT(await(read_until(*first, "60000")), StartsWith("HTTP/1.1 200"));
    EXPECT_EQ(budget->used(), 0u);
}

TEST_F(Shares, AnswersThatAreNotReceivedAreCounted) {
    const auto budget = std::make_shared<ByteBudget>(500'000);
    start_guarded({.budget = budget});
    const std::string large = "GET /large HTTP/1.1\r\nHost: h\r\nAuthorization: yes\r\n\r\n";
    auto reads_nothing = connect_and_send(large);
    EXPECT_EQ(budget->used(), 300'000u);
    auto refused = connect_and_send(large);
    EXPECT_EQ(first_line(*refused), "HTTP/1.1 429 Too Many Requests\r\n");
    // The answer to a write is always sent: it has been carried out.
    auto writes = connect_and_send("DELETE" + large.substr(3));
    EXPECT_EQ(first_line(*writes), "HTTP/1.1 200 OK\r\n");
    reads_nothing->close();
    writes->close();
    settle();
    EXPECT_EQ(budget->used(), 0u);
    auto next = connect_and_send(large);
    EXPECT_EQ(first_line(*next), "HTTP/1.1 200 OK\r\n");
}

TEST_F(Shares, AnswersAreCountedBeforeTheyAreMade) {
    const auto budget = std::make_shared<ByteBudget>(500'000);
    start_guarded({.budget = budget});
    const std::string fields = " /made HTTP/1.1\r\nHost: h\r\nAuthorization: yes\r\n";
    auto first = connect_and_send("GET" + fields + "\r\n");
    EXPECT_EQ(budget->used(), 300'000u);
    auto refused = connect_and_send("GET" + fields + "\r\n");
    EXPECT_THAT(await(read_until(*refused, "not made")), StartsWith("HTTP/1.1 429"));
    auto writes = connect_and_send("DELETE" + fields + "\r\n");
    auto admin = connect_and_send("GET" + fields + "X-Admin: yes\r\n\r\n");
    EXPECT_EQ(budget->used(), 900'000u);
    advance(2s);
    for (const auto* served : {&first, &writes, &admin})
        EXPECT_EQ(first_line(**served), "HTTP/1.1 200 OK\r\n");
    EXPECT_EQ(budget->used(), 0u);
}

TEST_F(Shares, LargeHeadsOfStrangersHaveABound) {
    // A head of 20,000 bytes is in a buffer of 32 KiB: there is room for three.
    start_guarded({.strangers = 100, .input_of_strangers = 100'000});
    const std::string begun = "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x');
    auto silent = connect_and_send(begun);
    auto grows = connect_and_send(begun);
    auto third = connect_and_send(begun);
    auto small = connect_and_send("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(2000, 'x'));
    EXPECT_EQ(server_->connections(), 4u);
    auto fourth = connect_and_send(begun);
    EXPECT_EQ(await(read_to_end(*silent)), "");
    EXPECT_EQ(server_->connections(), 4u);
    // One that continues goes after those that are silent.
    send(*grows, std::string(20'000, 'x'));
    EXPECT_EQ(await(read_to_end(*third)), "");
    for (ByteStream* stranger : {grows.get(), small.get()}) {
        send(*stranger, "\r\n\r\n");
        EXPECT_EQ(first_line(*stranger), "HTTP/1.1 401 Unauthorized\r\n");
    }
    auto known = connect_and_send(kKnown);
    EXPECT_EQ(first_line(*known), "HTTP/1.1 200 OK\r\n");
}

TEST_F(Shares, LargeHeadsThatWereAnsweredOrAreOfKnownClientsMakeNoRoom) {
    start_guarded({.strangers = 100, .input_of_strangers = 100'000});
    const std::string large = "X: " + std::string(20'000, 'x') + "\r\n\r\n";
    auto known = connect_and_send(kKnown);
    send(*known,
         "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: yes\r\n" + large.substr(0, large.size() - 2));
    std::vector<std::unique_ptr<ByteStream>> strangers;
    for (int i = 0; i < 10; ++i) {
        strangers.push_back(connect_and_send("GET / HTTP/1.1\r\nHost: h\r\n" + large));
        EXPECT_EQ(first_line(*strangers.back()), "HTTP/1.1 401 Unauthorized\r\n");
    }
    EXPECT_EQ(server_->connections(), 11u);
    EXPECT_EQ(first_line(*known), "HTTP/1.1 200 OK\r\n");
    send(*known, "\r\n");
    EXPECT_THAT(await(read_until(*known, "HTTP/1.1 200")), EndsWith("HTTP/1.1 200"));
}

TEST_F(Shares, ALargeHeadAloneMayExceedTheBoundOfStrangers) {
    start_guarded({.strangers = 100, .input_of_strangers = 10'000});
    auto stranger = connect_and_send("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(60'000, 'x') +
                                     "\r\n\r\n");
    EXPECT_EQ(first_line(*stranger), "HTTP/1.1 401 Unauthorized\r\n");
}

TEST_F(Shares, AnUpgradeIsRefusedWhileABodyIsOnItsWay) {
    std::optional<Code> refused;
    start([&](HttpExchange& exchange) -> Task<void> {
        return [](HttpExchange& one, std::optional<Code>& into) -> Task<void> {
            auto stream = co_await one.upgrade({{"Connection", "Upgrade"}, {"Upgrade", "x"}});
            if (!stream) into = stream.error().code();
        }(exchange, refused);
    });
    EXPECT_THAT(conversation(post("", 100)), StartsWith("HTTP/1.1 500"));
    EXPECT_EQ(refused, Code::kBadRequest);
}

}  // namespace
}  // namespace muster::net::http_shares_test
