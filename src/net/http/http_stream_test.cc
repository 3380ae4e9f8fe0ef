#include <boost/system/system_error.hpp>

#include "base/async/signal.h"
#include "base/async/task_fault.h"
#include "net/http/http_server_fixture.h"

namespace muster::net::http_stream_test {
namespace {

using namespace std::chrono_literals;

/// Answers that do not come as one.
class Stream : public ServerFixture {
  protected:
    ~Stream() override { stop(); }

    /// A watch: sends what is put into `pieces_` until it is told to end.
    void start_watch(HttpServerLimits limits = {}, bool tls = false) {
        start([this](HttpExchange& exchange) -> Task<void> { return watch(exchange); }, limits,
              tls);
    }
    Task<void> watch(HttpExchange& exchange) {
        struct End {
            ~End() { ++ended; }
            int& ended;
        } const counted{ended_};
        ++begun_;
        if (!co_await exchange.begin(200, {{"Content-Type", "application/json"}})) co_return;
        for (;;) {
            while (!pieces_.empty()) {
                const std::string piece = pieces_.front();
                pieces_.erase(pieces_.begin());
                if (!co_await exchange.write(piece)) co_return;
            }
            if (end_) break;
            co_await changed_.wait();
        }
        (void)co_await exchange.end();
    }
    static Task<void> keep_stream(HttpExchange& exchange, std::unique_ptr<ByteStream>& kept) {
        auto stream = co_await exchange.upgrade({{"Connection", "Upgrade"}, {"Upgrade", "x"}});
        if (stream) kept = *std::move(stream);
    }
    Task<void> answer_late(HttpExchange& exchange) {
        co_await clock.sleep_for(exchange.request().target == "/quick" ? 2s : 10s);
        exchange.respond(200, {}, "done");
    }
    void push(std::string piece) {
        pieces_.push_back(std::move(piece));
        changed_.notify_all();
    }
    void end() {
        end_ = true;
        changed_.notify_all();
    }

    static constexpr const char* kGet = "GET /watch HTTP/1.1\r\nHost: h\r\n\r\n";

    Signal changed_{context.get_executor()};
    std::vector<std::string> pieces_;
    bool end_ = false;
    int begun_ = 0;
    int ended_ = 0;
};

TEST_F(Stream, EachPieceIsAChunkAndComesAtOnce) {
    start_watch();
    auto client = connect();
    send(*client, kGet);
    EXPECT_EQ(await(read_until(*client, "\r\n\r\n")),
              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
              "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\nTransfer-Encoding: chunked\r\n\r\n");
    push("first\n");
    EXPECT_EQ(await(read_until(*client, "first\n\r\n")), "6\r\nfirst\n\r\n");
    push(std::string(300, 'x'));
    EXPECT_EQ(await(read_until(*client, "xx\r\n")), "12c\r\n" + std::string(300, 'x') + "\r\n");
    end();
    EXPECT_EQ(await(read_until(*client, "0\r\n\r\n")), "0\r\n\r\n");
}

TEST_F(Stream, TheConnectionGoesOnBehindAStream) {
    start_watch();
    auto client = connect();
    send(*client, kGet);
    settle();
    send(*client, kGet);  // while the first streams
    push("one");
    end();
    EXPECT_EQ(count(await(read_until(*client, "0\r\n\r\n")), "one"), 1u);
    await(read_until(*client, "0\r\n\r\n"));
    send(*client, kGet);
    EXPECT_TRUE(await(read_until(*client, "0\r\n\r\n")).starts_with("HTTP/1.1 200 OK"));
    EXPECT_EQ(begun_, 3);
}

TEST_F(Stream, AClientOfHttp10GetsTheBodyUpToTheEnd) {
    start_watch();
    push("one");
    push("two");
    end();
    const std::string answer = conversation("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(body_of(answer), "onetwo");
    EXPECT_EQ(count(answer, "chunked"), 0u) << answer;
    EXPECT_EQ(count(answer, "Connection: close\r\n"), 1u) << answer;
}

TEST_F(Stream, AHeadOfAStreamHasNoBody) {
    start_watch();
    push("one");
    end();
    const std::string answer =
        conversation("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(body_of(answer), "") << answer;
}

TEST_F(Stream, AHandlerIsCancelledWhenItsClientGoes) {
    start_watch();
    for (const bool closes : {true, false}) {
        auto client = connect();
        send(*client, kGet);
        settle();
        const int ended = ended_;
        if (closes) {
            client->close();
        } else {
            ASSERT_TRUE(await(client->shut_down_write()));  // as good as gone
        }
        settle();
        EXPECT_EQ(ended_, ended + 1);
        EXPECT_EQ(server_->connections(), 0u);
    }
}

TEST_F(Stream, AClientThatSendsOnIsNotGone) {
    start_watch();
    auto client = connect();
    send(*client, kGet);
    settle();
    send(*client, std::string(40'000, 'x'));
    settle();
    EXPECT_EQ(ended_, 0);
    push("alive");
    EXPECT_EQ(count(await(read_until(*client, "alive")), "alive"), 1u);
}

TEST_F(Stream, AClientThatDoesNotReadIsEnded) {
    start_watch({.write_time = 30s});
    auto client = connect();
    send(*client, kGet);
    settle();
    advance(1000s);
    EXPECT_EQ(ended_, 0) << "silence is not a fault";
    push(std::string(200'000, 'x'));
    settle();
    advance(29s);
    EXPECT_EQ(ended_, 0);
    advance(2s);
    EXPECT_EQ(ended_, 1);
    EXPECT_TRUE(await(read_to_end(*client)).ends_with("xxx")) << "no end was pretended";
}

TEST_F(Stream, AStreamWithoutItsEndIsCut) {
    start([](HttpExchange& exchange) -> Task<void> {
        (void)co_await exchange.begin(200, {});
        (void)co_await exchange.write("half");
    });
    const std::string answer = conversation(kGet);
    EXPECT_TRUE(answer.ends_with("half\r\n")) << answer;
    EXPECT_EQ(logged_.size(), 1u);
}

TEST_F(Stream, AnUpgradedConnectionIsTheHandlersWithAllThatWasSent) {
    start([](HttpExchange& exchange) -> Task<void> {
        auto stream = co_await exchange.upgrade({{"Connection", "Upgrade"}, {"Upgrade", "echo"}});
        if (!stream) co_return;
        std::string bytes(100, '\0');
        for (;;) {
            const auto size = co_await (*stream)->read_some(asio::buffer(bytes));
            if (!size || *size == 0) break;
            (void)co_await (*stream)->write(asio::buffer(bytes.data(), *size));
        }
        (void)co_await (*stream)->shut_down_write();
    });
    auto client = connect();
    send(*client,
         "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly ");
    const std::string head = await(read_until(*client, "\r\n\r\n"));
    EXPECT_TRUE(head.starts_with("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"))
        << head;
    EXPECT_EQ(count(head, "Content-Length"), 0u);
    send(*client, "late");
    EXPECT_EQ(await(read_until(*client, "late")), "early late");
    ASSERT_TRUE(await(client->shut_down_write()));
    EXPECT_EQ(await(read_to_end(*client)), "");
}

TEST_F(Stream, AnUpgradedConnectionOutlivesItsHandler) {
    std::unique_ptr<ByteStream> kept;
    start([&](HttpExchange& exchange) { return keep_stream(exchange, kept); });
    auto client = connect();
    send(*client, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
    await(read_until(*client, "\r\n\r\n"));
    settle();
    EXPECT_EQ(server_->connections(), 0u);
    ASSERT_NE(kept, nullptr);
    send(*kept, "still");
    EXPECT_EQ(await(read_until(*client, "still")), "still");
}

/// What becomes of a connection in each state when the server stops.
TEST_F(Stream, StopEndsWhatWaitsAndStreamsAtOnce) {
    for (const bool tls : {false, true}) {
        end_ = false;
        start_watch({.stop_time = 5s}, tls);
        auto client = TlsFixture::get().client_context(clock);
        std::unique_ptr<ByteStream> idle = connect(), watching = connect();
        auto silent = connect();  // no handshake, no head
        if (tls) {
            idle = *await(client->connect(std::move(idle), "localhost"));
            watching = *await(client->connect(std::move(watching), "localhost"));
        }
        send(*watching, kGet);
        push("one");
        await(read_until(*watching, "one\r\n"));
        const Instant began = clock.now();
        await(server_->stop());
        EXPECT_EQ(clock.now(), began) << "nobody was waited for";
        EXPECT_EQ(await(read_to_end(*idle)), "");
        EXPECT_EQ(await(read_to_end(*watching)), "0\r\n\r\n") << "a clean end";
        EXPECT_EQ(await(read_to_end(*silent)), "");
        EXPECT_EQ(server_->connections(), 0u);
        server_.reset();
    }
}

TEST_F(Stream, StopWaitsForNoAnswerForEverAfterAFaultEither) {
    start(with_body([this](HttpExchange& exchange) { return answer_late(exchange); }),
          {.stop_time = 5s});
    auto slow = connect();
    send(*slow, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    settle();
    bool stopped = false;
    {
        const TaskFault fault("http patience");
        asio::co_spawn(context, server_->stop(), [&](std::exception_ptr) { stopped = true; });
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(9s);  // less than the answer takes
    EXPECT_TRUE(stopped);
}

TEST_F(Stream, StopLetsAnswersBeFinishedForAWhile) {
    start(with_body([this](HttpExchange& exchange) { return answer_late(exchange); }),
          {.stop_time = 5s});
    auto quick = connect(), slow = connect(), sending = connect();
    send(*quick, "GET /quick HTTP/1.1\r\nHost: h\r\n\r\n");
    send(*slow, "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    send(*sending, "POST /quick HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe");
    settle();
    const Instant began = clock.now();
    await(server_->stop());
    EXPECT_EQ(clock.now() - began, 7s) << "the limit, and a farewell to clients that stay";
    const std::string answer = await(read_to_end(*quick));
    EXPECT_EQ(body_of(answer), "done");
    EXPECT_EQ(count(answer, "Connection: close\r\n"), 1u) << "it will not serve another";
    EXPECT_EQ(status_line(await(read_to_end(*slow))), "HTTP/1.1 503 Service Unavailable");
    EXPECT_EQ(status_line(await(read_to_end(*sending))), "HTTP/1.1 503 Service Unavailable");
}

}  // namespace
}  // namespace muster::net::http_stream_test
