#include "net/http/http_server.h"

#include <tuple>

#include "base/async/signal.h"
#include "base/async/task_fault.h"
#include "net/http/http_server_fixture.h"

namespace muster::net::http_server_test {
namespace {

using namespace std::chrono_literals;

class Server : public ServerFixture {
  protected:
    static Task<void> answer_late(Clock& clock, HttpExchange& exchange) {
        co_await clock.sleep_for(1000s);
        exchange.respond(200, {}, "late");
    }
    static Task<void> begin_and_wait(HttpExchange& exchange) {
        (void)co_await exchange.begin(200, {});
        Signal never(co_await asio::this_coro::executor);
        co_await never.wait();
    }
};

TEST_F(Server, ARequestIsAnsweredWithHeadAndBody) {
    start_echo();
    EXPECT_EQ(conversation("POST /a?b=c HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
                           "Connection: close\r\n\r\nhello"),
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
              "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\nContent-Length: 17\r\n"
              "Connection: close\r\n\r\nPOST /a?b=c hello");
}

Task<void> throw_late(Clock& clock) {
    co_await clock.sleep_for(1s);
    throw std::runtime_error("a handler's fault");
}

Task<void> begin_and_throw(HttpExchange& exchange) {
    (void)co_await exchange.begin(200, {});
    (void)co_await exchange.write("some");
    throw std::runtime_error("a handler's fault");
}

TEST_F(Server, WhatAHandlerThrowsIsTheEndOfItsRequestAlone) {
    start([this](HttpExchange& exchange) -> Task<void> {
        const std::string_view path = exchange.request().path();
        if (path == "/at-once") throw std::runtime_error("a handler's fault");
        if (path == "/late") return throw_late(clock);
        if (path == "/begun") return begin_and_throw(exchange);
        exchange.respond(200, {}, path == "/answered" ? "lost" : "well");
        if (path == "/answered") throw 1;  // NOLINT(hicpp-exception-baseclass)
        return answered();
    });
    for (const char* path : {"/at-once", "/late", "/answered"}) {
        const std::string answer =
            conversation(fmt::format("GET {} HTTP/1.1\r\nHost: h\r\n\r\n"
                                     "GET /well HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                                     path));
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 500 ")) << answer;
        EXPECT_TRUE(answer.ends_with("well")) << "the connection stays: " << answer;
        ASSERT_EQ(logged_.size(), 1u);
        const std::size_t id = logged_[0].find("id=") + 3;
        EXPECT_NE(answer.find(logged_[0].substr(id, 8)), std::string::npos) << answer;
        EXPECT_NE(logged_[0].find(path), std::string::npos);
        logged_.clear();
    }
    // The client must not take the beginning of an answer for all of it.
    const std::string cut = conversation("GET /begun HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(body_of(cut), "4\r\nsome\r\n");
    EXPECT_EQ(server_->connections(), 0u);
    EXPECT_EQ(status_line(conversation("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")),
              "HTTP/1.1 200 OK");
}

TEST_F(Server, AConnectionWhoseTaskFailsEndsAlone) {
    start_echo();
    for (const char* task : {"http connection", "watch for a client's end"}) {
        stop();
        start([](HttpExchange& exchange) { return begin_and_wait(exchange); });
        auto stream = connect();
        {
            const TaskFault fault(task);
            send(*stream, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
            (void)await(read_to_end(*stream));
            EXPECT_GT(fault.hits(), 0u) << task;
        }
        EXPECT_EQ(server_->connections(), 0u) << task;
        auto next = connect();
        send(*next, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_TRUE(await(read_until(*next, "\r\n")).starts_with("HTTP/1.1 200")) << task;
    }
}

TEST_F(Server, ConnectionsAreAcceptedAndWatchedAgainAfterAFault) {
    for (const char* task : {"http accept", "http deadlines"}) {
        {
            const TaskFault fault(task);
            start_echo({.idle_time = 30s});
            settle();
            EXPECT_EQ(fault.hits(), 1u) << task;
        }
        advance(1s);
        auto stream = connect();
        send(*stream, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_TRUE(await(read_until(*stream, "GET / ")).starts_with("HTTP/1.1 200")) << task;
        const Instant began = clock.now();
        await(read_to_end(*stream));
        EXPECT_LE(clock.now() - began, 32s) << "it is idle: " << task;
        stop();
    }
}

TEST_F(Server, PipelinedRequestsAreAnsweredInTheirOrder) {
    start_echo();
    const std::string answer = conversation(
        "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
        "POST /2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3;name=value\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
        "\r\nGET /3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(count(answer, "HTTP/1.1 200 OK"), 3u) << answer;
    const std::size_t first = answer.find("GET /1 "), second = answer.find("POST /2 abcde"),
                      third = answer.find("GET /3 ");
    EXPECT_LT(first, second);
    EXPECT_LT(second, third);
    EXPECT_NE(third, std::string::npos) << answer;
}

TEST_F(Server, HowARequestIsCutDoesNotMatter) {
    start_echo();
    const std::string request =
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        "3;a=b\r\nabc\r\n0\r\nT: x\r\n\r\n";
    for (std::size_t cut = 1; cut <= 7; ++cut) {
        auto stream = connect();
        for (std::size_t at = 0; at < request.size(); at += cut) {
            send(*stream, request.substr(at, cut));
            settle();
        }
        EXPECT_EQ(body_of(await(read_to_end(*stream))), "POST / abc") << cut;
    }
}

TEST_F(Server, AConnectionStaysUnlessOneSideWishesOtherwise) {
    struct Case {
        const char* what;
        const char* first_line;
        const char* connection;
        bool stays;
    };
    start_echo();
    for (const Case& c :
         {Case{"1.1", "GET / HTTP/1.1", "", true},
          Case{"1.1, close", "GET / HTTP/1.1", "Connection: close\r\n", false},
          Case{"1.1, Close among others", "GET / HTTP/1.1", "Connection: foo, Close\r\n", false},
          Case{"1.0", "GET / HTTP/1.0", "", false},
          Case{"1.0, keep-alive", "GET / HTTP/1.0", "Connection: Keep-Alive\r\n", true}}) {
        const std::string request =
            std::string(c.first_line) + "\r\nHost: h\r\n" + c.connection + "\r\n";
        auto stream = connect();
        send(*stream, request + request);
        (void)await(stream->shut_down_write());  // an error where the server closed before
        const std::string answer = await(read_to_end(*stream));
        EXPECT_EQ(count(answer, "200 OK"), c.stays ? 2u : 1u) << c.what << "\n" << answer;
    }
}

TEST_F(Server, AHeadSaysWhatAGetWouldAndNoMore) {
    start_echo();
    const std::string answer = conversation(
        "HEAD / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n"
        "Connection: close\r\n\r\n");
    EXPECT_EQ(count(answer, "Content-Length: 7\r\n"), 1u) << answer;
    EXPECT_EQ(count(answer, "HEAD / "), 0u) << answer;
    EXPECT_EQ(count(answer, "GET / "), 1u) << answer;
}

TEST_F(Server, AnswersWithoutBodySayNoLength) {
    start([](HttpExchange& exchange) -> Task<void> {
        exchange.respond(204, {}, "not to be sent");
        co_return;
    });
    const std::string answer =
        conversation("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(count(answer, "Content-Length"), 0u) << answer;
    EXPECT_EQ(body_of(answer), "");
}

TEST_F(Server, ASharedBodyIsSentWhole) {
    auto body = std::make_shared<const std::string>(std::string(700'000, 'x') + "end");
    start([body](HttpExchange& exchange) {
        exchange.respond(200, {}, body);
        return answered();
    });
    EXPECT_EQ(body_of(conversation("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")),
              *body);
    EXPECT_EQ(body.use_count(), 2) << "the handler's and ours";
}

TEST_F(Server, WhatTwoProgramsCouldReadDifferentlyIsRefused) {
    start_echo();
    const auto post = [](std::string fields, std::string body = "") {
        return "POST / HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n" + body;
    };
    const std::pair<const char*, std::string> cases[] = {
        {"length and coding",
         post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"coding and length",
         post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
        {"two lengths", post("Content-Length: 1\r\nContent-Length: 2\r\n", "ab")},
        {"the same length twice", post("Content-Length: 1\r\nContent-Length: 1\r\n", "a")},
        {"a list of lengths", post("Content-Length: 1, 1\r\n", "a")},
        {"a signed length", post("Content-Length: +1\r\n", "a")},
        {"a negative length", post("Content-Length: -1\r\n")},
        {"a hexadecimal length", post("Content-Length: 0x1\r\n", "a")},
        {"an empty length", post("Content-Length:\r\n")},
        {"a length with a blank", post("Content-Length: 1 1\r\n", "a")},
        {"a length beyond 64 bits", post("Content-Length: 99999999999999999999999\r\n")},
        {"another coding", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
        {"chunked, then another", post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n")},
        {"an odd coding", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")},
        {"two codings",
         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"a coding in HTTP/1.0",
         "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        {"a folded line", post("A: b\r\n c: d\r\n")},
        {"a line folded by a tab", post("A: b\r\n\tc\r\n")},
        {"a bare LF in the head", "GET / HTTP/1.1\nHost: h\r\n\r\n"},
        {"a bare LF between fields", post("A: b\nContent-Length: 5\r\n", "hello")},
        {"a bare CR in a value", post("A: b\rc\r\n")},
        {"a NUL in a value", post(std::string("A: b\0c\r\n", 8))},
        {"a blank before the colon", post("Content-Length : 5\r\n", "hello")},
        {"a tab before the colon", post("Content-Length\t: 5\r\n", "hello")},
        {"a field without a colon", post("Host\r\n")},
        {"a field without a name", post(": x\r\n")},
        {"a control character in a value", post("A: b\x01\r\n")},
        {"no host", "GET / HTTP/1.1\r\n\r\n"},
        {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
        {"no version", "GET /\r\nHost: h\r\n\r\n"},
        {"another version", "GET / HTTP/2.0\r\nHost: h\r\n\r\n"},
        {"two blanks", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"a blank in the target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"hardly anything", "G\r\n\r\n"},
        {"no method", " / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"a chunk without a size", post("Transfer-Encoding: chunked\r\n", "\r\nabc\r\n0\r\n\r\n")},
        {"a chunk of a negative size", post("Transfer-Encoding: chunked\r\n", "-1\r\na\r\n")},
        {"a chunk that ends elsewhere",
         post("Transfer-Encoding: chunked\r\n", "2\r\nabc\r\n0\r\n\r\n")},
        {"a bare LF behind a chunk's size",
         post("Transfer-Encoding: chunked\r\n", "1\na\r\n0\r\n\r\n")},
        {"a length in the trailer",
         post("Transfer-Encoding: chunked\r\n", "0\r\nContent-Length: 1\r\n\r\n")},
        {"a long line before a chunk",
         post("Transfer-Encoding: chunked\r\n", "1;" + std::string(20'000, 'x'))},
    };
    for (const auto& [what, request] : cases) {
        const std::string answer =
            conversation(request + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_EQ(status_line(answer), "HTTP/1.1 400 Bad Request") << what << "\n" << answer;
        EXPECT_EQ(count(answer, "HTTP/1.1"), 1u) << what << "\n" << answer;
        EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << what;
    }
    EXPECT_EQ(requests_, 0) << "none reached the handler";
}

TEST_F(Server, LimitsHaveTheirAnswers) {
    start_echo({.head_bytes = 1000, .body_bytes = 10});
    const auto post = [](std::string fields, std::string body) {
        return "POST / HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n" + body;
    };
    const std::string full =
        post("Connection: close\r\nA: " + std::string(1000 - 52, 'x') + "\r\n", "");
    ASSERT_EQ(full.size(), 1000u);
    const std::tuple<const char*, std::string, int> cases[] = {
        {"the largest head", full, 200},
        {"a head of more", post("A: " + std::string(1000, 'x') + "\r\n", ""), 431},
        {"a head without end", "GET /" + std::string(2000, 'x'), 431},
        {"the largest body", post("Connection: close\r\nContent-Length: 10\r\n", "0123456789"),
         200},
        {"a length of more", post("Content-Length: 11\r\n", ""), 413},
        {"chunks of more",
         post("Transfer-Encoding: chunked\r\n", "6\r\nabcdef\r\n5\r\nabcde\r\n0\r\n\r\n"), 413},
        {"a chunk of more", post("Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n"), 413},
    };
    for (const auto& [what, request, status] : cases) {
        const std::string answer = conversation(request);
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(status))) << what << "\n"
                                                                              << answer;
    }
}

TEST_F(Server, AnAnswerReachesAClientThatIsStillSending) {
    start_echo({.body_bytes = 10});
    auto stream = connect();
    // More than both directions hold: a server that did not read on would leave it stuck.
    auto writing =
        write_text(*stream, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n" +
                                std::string(900'000, 'x'));
    EXPECT_TRUE(await(std::move(writing)));
    EXPECT_TRUE(await(read_to_end(*stream)).starts_with("HTTP/1.1 413 "));
}

TEST_F(Server, AClientThatExpectsIsToldToGoOn) {
    start_echo();
    auto stream = connect();
    send(*stream,
         "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(await(read_until(*stream, "\r\n\r\n")), "HTTP/1.1 100 Continue\r\n\r\n");
    send(*stream, "hello");
    EXPECT_TRUE(await(read_until(*stream, "hello")).ends_with("POST / hello"));
    // A client that is refused does not get a 100.
    EXPECT_TRUE(conversation("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n"
                             "Expect: 100-continue\r\n\r\n")
                    .starts_with("HTTP/1.1 413 "));
    EXPECT_TRUE(
        conversation("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: more\r\n\r\n")
            .starts_with("HTTP/1.1 417 "));
}

TEST_F(Server, SlowClientsAreToldAndEnded) {
    start_echo({.head_time = 10s, .body_time = 20s, .idle_time = 30s});
    struct Case {
        const char* what;
        const char* sent;
        Duration ends_after;
        const char* answer;
    };
    for (const Case& c :
         {Case{"nothing", "", 10s, ""},
          Case{"half a head", "GET / HT", 10s, "HTTP/1.1 408 Request Timeout"},
          Case{"half a body", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab", 20s,
               "HTTP/1.1 408 Request Timeout"},
          Case{"nothing more", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", 30s, "HTTP/1.1 200 OK"}}) {
        auto stream = connect();
        if (*c.sent != 0) send(*stream, c.sent);
        settle();
        const Instant began = clock.now();
        EXPECT_EQ(status_line(await(read_to_end(*stream))), c.answer) << c.what;
        EXPECT_EQ(clock.now() - began, c.ends_after) << c.what;
    }
}

TEST_F(Server, ASecondHeadHasItsTimeFromItsFirstByte) {
    start_echo({.head_time = 10s, .idle_time = 300s});
    auto stream = connect();
    send(*stream, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    await(read_until(*stream, "GET / "));
    advance(100s);
    send(*stream, "GET / HTTP/1.1\r\n");
    settle();
    const Instant began = clock.now();
    EXPECT_EQ(status_line(await(read_to_end(*stream))), "HTTP/1.1 408 Request Timeout");
    EXPECT_EQ(clock.now() - began, 10s);
}

TEST_F(Server, AClientThatDoesNotReadIsEnded) {
    start(
        [](HttpExchange& exchange) -> Task<void> {
            exchange.respond(200, {}, std::string(1'000'000, 'x'));
            co_return;
        },
        {.write_time = 30s});
    auto stream = connect();
    send(*stream, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    settle();
    EXPECT_EQ(server_->connections(), 1u);
    advance(29s);
    EXPECT_EQ(server_->connections(), 1u);
    advance(2s);
    EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(Server, AHandlerMayTakeItsTime) {
    start([this](HttpExchange& exchange) { return answer_late(clock, exchange); },
          {.head_time = 1s, .body_time = 1s, .idle_time = 1s, .write_time = 1s});
    EXPECT_EQ(body_of(conversation("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")),
              "late");
}

TEST_F(Server, AConnectionTooManyIsToldSo) {
    start_echo({.connections = 2});
    auto first = connect();
    auto second = connect();
    settle();
    EXPECT_TRUE(conversation("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                    .starts_with("HTTP/1.1 503 Service Unavailable"));
    EXPECT_EQ(requests_, 0);
    first->close();
    settle();
    EXPECT_TRUE(conversation("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                    .starts_with("HTTP/1.1 200 "));
}

/// Has no descriptor for some connections, and then does.
class PoorListener final : public Listener {
  public:
    PoorListener(std::unique_ptr<Listener> rich, int failures)
        : rich_(std::move(rich)), failures_(failures) {}
    Task<Result<std::unique_ptr<ByteStream>>> accept() override {
        if (failures_ > 0) {
            --failures_;
            co_return Error(Code::kTooManyRequests, "too many open files");
        }
        co_return co_await rich_->accept();
    }
    void close() override { rich_->close(); }
    std::string address() const override { return rich_->address(); }

  private:
    std::unique_ptr<Listener> rich_;
    int failures_;
};

TEST_F(Server, AListenerThatFailsIsTriedAgain) {
    start_echo();
    auto memory = std::make_unique<MemoryListener>(context.get_executor());
    listener_ = memory.get();
    server_->serve(std::make_unique<PoorListener>(std::move(memory), 3));
    const Instant began = clock.now();
    EXPECT_TRUE(conversation("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                    .starts_with("HTTP/1.1 200 "));
    EXPECT_GT(clock.now() - began, 200ms) << "not in a busy loop";
    EXPECT_EQ(logged_.size(), 1u) << "said once";
}

TEST_F(Server, AHandlerWithoutAnAnswerIsAnErrorOfTheServer) {
    start([](HttpExchange&) -> Task<void> { co_return; });
    const std::string answer =
        conversation("GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(status_line(answer), "HTTP/1.1 500 Internal Server Error");
    ASSERT_EQ(logged_.size(), 1u);
    EXPECT_NE(logged_[0].find("path=/x"), std::string::npos) << logged_[0];
}

TEST_F(Server, AHeaderThatWouldForgeAnAnswerIsNotSent) {
    start([](HttpExchange& exchange) -> Task<void> {
        exchange.respond(302, {{"Location", "/a\r\nSet-Cookie: forged"}}, "");
        co_return;
    });
    const std::string answer =
        conversation("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(status_line(answer), "HTTP/1.1 500 Internal Server Error");
    EXPECT_EQ(count(answer, "forged"), 0u);
    EXPECT_EQ(logged_.size(), 1u);
}

TEST_F(Server, OverTlsAClientIsKnownAndEndsAreClean) {
    start(
        [](HttpExchange& exchange) -> Task<void> {
            const auto& shown = exchange.request().client_certificate;
            exchange.respond(200, {}, shown ? shown->common_name : "nobody");
            co_return;
        },
        {}, true);
    for (const bool with : {true, false}) {
        auto client = TlsFixture::get().client_context(clock, with);
        auto stream = await(client->connect(connect(), "localhost"));
        ASSERT_TRUE(stream) << stream.error().message();
        send(**stream, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        EXPECT_EQ(body_of(await(read_to_end(**stream))), with ? "ada" : "nobody");
    }
}

TEST_F(Server, AHandshakeThatIsNotMadeEnds) {
    start([](HttpExchange&) -> Task<void> { co_return; }, {.head_time = 10s}, true);
    auto stream = connect();
    settle();
    EXPECT_EQ(server_->connections(), 1u);
    advance(11s);
    EXPECT_EQ(server_->connections(), 0u);
    EXPECT_EQ(await(read_to_end(*stream)), "");
}

}  // namespace
}  // namespace muster::net::http_server_test
