#include "net/http/http_client.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <deque>
#include <optional>

#include "base/async/cancellation.h"
#include "base/async/task_fault.h"
#include "net/http/http_server_fixture.h"
#include "net/internal/http/client_connection.h"

namespace muster::net::http_client_test {
namespace {

using namespace std::chrono_literals;

/// A client of a scripted server: what the test reads and writes is the other end.
class Client : public ServerFixture {
  protected:
    ~Client() override {
        stop();
        if (client_) await(client_->stop());
    }
    void make(HttpClientOptions options = {}) {
        client_ = std::make_unique<HttpClient>(
            context.get_executor(), clock,
            [this]() -> Task<Result<std::unique_ptr<ByteStream>>> { return connect_to_test(); },
            std::move(options));
    }
    Task<Result<std::unique_ptr<ByteStream>>> connect_to_test() {
        if (unreachable_) co_return Error(Code::kUnavailable, "nobody there");
        if (silent_) co_await clock.sleep_for(10'000s);
        if (connecting_ > Duration::zero()) co_await clock.sleep_for(connecting_);
        auto [near, far] = make_memory_streams(context.get_executor());
        ends_.push_back(std::move(far));
        co_return std::move(near);
    }
    /// A client of the server that start() made.
    void make_for_server(HttpClientOptions options = {}) {
        client_ = std::make_unique<HttpClient>(
            context.get_executor(), clock,
            [this]() -> Task<Result<std::unique_ptr<ByteStream>>> { return connect_to_server(); },
            std::move(options));
    }
    Task<Result<std::unique_ptr<ByteStream>>> connect_to_server() {
        ++connections_;
        co_return listener_->connect();
    }

    static bool was_cancelled(std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const boost::system::system_error& error) {
            return is_cancellation(error.code());
        }
        return false;
    }

    template <class T>
    struct Pending {
        std::optional<Result<T>> result;
        bool thrown = false;
        asio::cancellation_signal cancel;
    };
    template <class T>
    std::unique_ptr<Pending<T>> begin(Task<Result<T>> task) {
        auto pending = std::make_unique<Pending<T>>();
        asio::co_spawn(context, std::move(task),
                       asio::bind_cancellation_slot(
                           pending->cancel.slot(),
                           [state = pending.get()](std::exception_ptr thrown, Result<T> result) {
                               state->thrown = was_cancelled(thrown);
                               if (!thrown) state->result.emplace(std::move(result));
                           }));
        settle();
        return pending;
    }
    auto begin_call(std::string method = "GET", Duration time = 10s) {
        HttpRequest request;
        request.method = std::move(method);
        request.target = "/x";
        return begin(client_->call(std::move(request), time));
    }
    template <class T>
    static std::string outcome(const Pending<T>& pending) {
        if (pending.thrown) return "thrown";
        if (!pending.result) return "waiting";
        if (!*pending.result) return std::string(to_string(pending.result->error().code()));
        return "answered";
    }
    HttpRequest get(std::string target) {
        HttpRequest request;
        request.target = std::move(target);
        return request;
    }

    std::deque<std::unique_ptr<ByteStream>> ends_;
    std::unique_ptr<HttpClient> client_;
    bool unreachable_ = false;
    bool silent_ = false;
    Duration connecting_{};  ///< how long a connection takes
    int connections_ = 0;
};

TEST_F(Client, ARequestIsWrittenWithWhatItNeeds) {
    HttpRequest request;
    request.method = "POST";
    request.target = "/a?b=c";
    request.headers = {{"Accept", "x"}, {"Content-Length", "99"}};
    request.body = "hello";
    EXPECT_EQ(*request_head(request, "h:1"),
              "POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nAccept: x\r\nContent-Length: 5\r\n\r\n");
    request.method = "GET";
    request.body.clear();
    request.headers = {{"host", "other"}};
    EXPECT_EQ(*request_head(request, "h"), "GET /a?b=c HTTP/1.1\r\nhost: other\r\n\r\n");
    const HttpRequest good = request;
    for (const char* target : {"", "/a b", "/a\r\nX: y", "/\x7f"}) {
        request.target = target;
        EXPECT_EQ(request_head(request, "h").error().code(), Code::kBadRequest) << target;
    }
    request = good;
    request.headers.add("X", "a\nb");
    EXPECT_FALSE(request_head(request, "h"));
    request = good;
    request.method = "GET /";
    EXPECT_FALSE(request_head(request, "h"));
}

TEST_F(Client, AnswersOfAllShapesAreUnderstood) {
    struct Case {
        const char* what;
        const char* method;
        const char* answer;
        bool ends;
        unsigned status;
        const char* body;
        bool kept;
    };
    for (const Case& c :
         {Case{"length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, 200, "ok",
               true},
          Case{"chunks", "GET",
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
               false, 200, "ok", true},
          Case{"to the end", "GET", "HTTP/1.1 404 Nope\r\n\r\nok", true, 404, "ok", false},
          Case{"no body", "GET", "HTTP/1.1 204 No Content\r\n\r\n", false, 204, "", true},
          Case{"a head", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", false, 200, "",
               true},
          Case{"interim", "GET",
               "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nA: b\r\n\r\n"
               "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
               false, 201, "ok", true},
          Case{"close", "GET",
               "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false, 200,
               "ok", false},
          Case{"more than an answer", "GET",
               "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n", false, 200,
               "ok", false}}) {
        make();
        auto call = begin_call(c.method);
        send(*ends_.back(), c.answer);
        if (c.ends) ASSERT_TRUE(await(ends_.back()->shut_down_write()));
        settle();
        ASSERT_EQ(outcome(*call), "answered") << c.what;
        EXPECT_EQ((*call->result)->status, c.status) << c.what;
        EXPECT_EQ((*call->result)->body, c.body) << c.what;
        EXPECT_EQ(client_->idle_connections(), c.kept ? 1u : 0u) << c.what;
        EXPECT_FALSE((*call->result)->headers.contains("A")) << c.what;
        await(client_->stop());
    }
}

TEST_F(Client, ErrorsSayWhetherThereMayBeAnEffect) {
    struct Case {
        const char* what;
        const char* answer;  // null: the server does nothing
        bool closes;
        const char* outcome;
    };
    for (const Case& c :
         {Case{"no answer", nullptr, false, "Timeout"},
          Case{"half a head", "HTTP/1.1 200", false, "Timeout"},
          Case{"half a head and an end", "HTTP/1.1 200", true, "Timeout"},
          Case{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", true, "Timeout"},
          Case{"an end", "", true, "Timeout"},
          Case{"no HTTP", "220 smtp\r\n\r\n", false, "Timeout"},
          Case{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
               false, "Timeout"}}) {
        make();
        auto call = begin_call("GET", 10s);
        if (c.answer != nullptr && *c.answer != 0) send(*ends_.back(), c.answer);
        if (c.closes) ends_.back()->close();
        advance(11s);
        EXPECT_EQ(outcome(*call), c.outcome) << c.what;
        EXPECT_EQ(client_->idle_connections(), 0u) << c.what;
        await(client_->stop());
    }
    make();
    unreachable_ = true;
    EXPECT_EQ(outcome(*begin_call()), "Unavailable");
    unreachable_ = false;
    silent_ = true;
    auto call = begin_call("POST", 10s);
    advance(11s);
    EXPECT_EQ(outcome(*call), "Unavailable") << "it never had a connection";
    HttpRequest odd = get("/a b");
    EXPECT_EQ(outcome(*begin(client_->call(odd, 1s))), "BadRequest");
}

TEST_F(Client, AConnectionIsUsedAgainUntilItIsOld) {
    start_echo({.idle_time = 1000s});
    make_for_server({.idle_time = 60s});
    for (int i = 0; i < 5; ++i) {
        const auto answer = await(client_->call(get("/" + std::to_string(i)), 5s));
        ASSERT_TRUE(answer) << answer.error().message();
        EXPECT_EQ(answer->body, "GET /" + std::to_string(i) + " ");
        advance(50s);
    }
    EXPECT_EQ(connections_, 1);
    EXPECT_EQ(client_->idle_connections(), 1u);
    advance(11s);
    EXPECT_EQ(client_->idle_connections(), 0u);
    EXPECT_EQ(server_->connections(), 0u);
    EXPECT_TRUE(await(client_->call(get("/"), 5s)));
    EXPECT_EQ(connections_, 2);
}

TEST_F(Client, ARetiredConnectionServesWhatRunsOnItAndNothingMore) {
    make();
    auto call = begin(client_->stream(get("/watch"), 5s));
    send(*ends_[0], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    auto other = begin(client_->call(get("/"), 5s));
    settle();
    send(*ends_[1], "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ASSERT_EQ(outcome(*other), "answered");
    ASSERT_EQ(outcome(*call), "answered");
    EXPECT_EQ(client_->idle_connections(), 1u);
    client_->retire_connections();
    EXPECT_EQ(client_->idle_connections(), 0u);
    send(*ends_[0], "3\r\none\r\n0\r\n\r\n");
    HttpBody& body = ***call->result;
    EXPECT_EQ(**await(body.read()), "one");
    EXPECT_EQ(*await(body.read()), std::nullopt);
    EXPECT_EQ(client_->idle_connections(), 0u);
    auto next = begin(client_->call(get("/"), 5s));
    settle();
    EXPECT_EQ(ends_.size(), 3u);
    send(*ends_[2], "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(outcome(*next), "answered");
    EXPECT_EQ(client_->idle_connections(), 1u);
}

TEST_F(Client, AConnectionThatTheServerEndedIsNotUsed) {
    start_echo({.idle_time = 20s});
    make_for_server({.idle_time = 60s});
    ASSERT_TRUE(await(client_->call(get("/"), 5s)));
    advance(25s);
    EXPECT_EQ(client_->idle_connections(), 0u) << "noticed at once";
    HttpRequest post = get("/");
    post.method = "POST";
    EXPECT_TRUE(await(client_->call(post, 5s)));
    EXPECT_EQ(connections_, 2);
}

TEST_F(Client, OnlyWhatMayBeRepeatedIsRepeated) {
    for (const auto& [method, repeated] : {std::pair("GET", true),
                                           {"PUT", true},
                                           {"DELETE", true},
                                           {"POST", false},
                                           {"PATCH", false}}) {
        make();
        ends_.clear();
        auto first = begin_call();
        send(*ends_[0], "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        settle();
        ASSERT_EQ(client_->idle_connections(), 1u);
        auto second = begin_call(method);
        ASSERT_EQ(ends_.size(), 1u) << "on the kept connection";
        ends_[0]->close();  // as the request was on its way
        settle();
        EXPECT_EQ(ends_.size(), repeated ? 2u : 1u) << method;
        EXPECT_EQ(outcome(*second), repeated ? "waiting" : "Timeout") << method;
        await(client_->stop());
        settle();
        if (repeated) EXPECT_EQ(outcome(*second), "Cancelled") << method;
    }
}

TEST_F(Client, WhatIsTooLateWhenThereIsAConnectionIsNotSent) {
    make();
    connecting_ = 5s;
    HttpRequest request = get("/x");
    request.send_before = clock.now() + 5s;
    auto late = begin(client_->call(request, 60s));
    advance(5s);
    EXPECT_EQ(outcome(*late), "Unavailable") << "certainly without an effect";
    EXPECT_EQ(await(read_to_end(*ends_[0])), "");

    request.send_before = clock.now() + 5001ms;
    auto in_time = begin(client_->call(request, 60s));
    advance(5s);
    EXPECT_EQ(outcome(*in_time), "waiting");
    send(*ends_[1], "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    settle();
    EXPECT_EQ(outcome(*in_time), "answered");

    request.send_before = clock.now();
    auto on_a_kept_one = begin(client_->call(request, 60s));
    EXPECT_EQ(outcome(*on_a_kept_one), "Unavailable");
}

TEST_F(Client, ACallHasItsEndAfterAFaultOfWhatWatchesItsTime) {
    make();
    std::unique_ptr<Pending<HttpResponse>> call;
    {
        const TaskFault fault("deadlines of http calls");
        call = begin_call("GET", 10s);
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(10s - 1ms);
    EXPECT_EQ(outcome(*call), "waiting");
    advance(1ms);
    EXPECT_EQ(outcome(*call), "Timeout");
}

TEST_F(Client, KeptConnectionsAreWatchedAfterAFault) {
    for (const char* task : {"idle http connections", "idle http connection"}) {
        make({.idle_time = 30s});
        auto call = begin_call();
        {
            const TaskFault fault(task);
            send(*ends_.back(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            advance(2s);
            EXPECT_GT(fault.hits(), 0u) << task;
        }
        EXPECT_EQ(outcome(*call), "answered") << task;
        ends_.back()->close();
        advance(5s);
        EXPECT_EQ(client_->idle_connections(), 0u) << "its end was not seen: " << task;
        await(client_->stop());
    }
}

TEST_F(Client, NothingIsRepeatedOnceAnAnswerBegan) {
    make();
    auto first = begin_call();
    send(*ends_[0], "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    settle();
    auto second = begin_call();
    send(*ends_[0], "HTTP/1.1 2");
    ends_[0]->close();
    settle();
    EXPECT_EQ(outcome(*second), "Timeout");
    EXPECT_EQ(ends_.size(), 1u);
}

TEST_F(Client, ACancelledCallEndsAndItsConnectionWithIt) {
    make();
    auto call = begin_call("GET", 1000s);
    EXPECT_EQ(outcome(*call), "waiting");
    call->cancel.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_EQ(outcome(*call), "thrown");
    await(read_until(*ends_[0], "\r\n\r\n"));
    EXPECT_EQ(await(read_to_end(*ends_[0])), "");
}

TEST_F(Client, ABodyStreamsPieceByPiece) {
    make();
    auto call = begin(client_->stream(get("/watch"), 5s));
    send(*ends_[0], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n");
    settle();
    ASSERT_EQ(outcome(*call), "answered");
    HttpBody& body = ***call->result;
    EXPECT_EQ(body.head().status, 200u);
    EXPECT_EQ(body.head().headers.find("a"), "b");
    advance(1000s);  // the time was for the head
    auto reading = begin(body.read());
    EXPECT_EQ(outcome(*reading), "waiting");
    send(*ends_[0], "3\r\none\r\n");
    settle();
    ASSERT_EQ(outcome(*reading), "answered");
    EXPECT_EQ(**reading->result, "one");
    auto cancelled = begin(body.read());
    cancelled->cancel.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_EQ(outcome(*cancelled), "thrown");
    send(*ends_[0], "3\r\ntwo\r\n0\r\n\r\n");
    EXPECT_EQ(**await(body.read()), "two");
    EXPECT_EQ(*await(body.read()), std::nullopt);
    EXPECT_EQ(*await(body.read()), std::nullopt) << "an end stays one";
    EXPECT_EQ(client_->idle_connections(), 1u);
}

TEST_F(Client, AConnectionThatIsTakenAtOnceAfterABodyHasOneReader) {
    make();
    auto call = begin(client_->stream(get("/first"), 5s));
    send(*ends_[0], "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
    settle();
    ASSERT_EQ(outcome(*call), "answered");
    HttpBody& first = ***call->result;
    auto next = begin([](HttpClient& client, HttpBody& body,
                         HttpRequest request) -> Task<Result<std::unique_ptr<HttpBody>>> {
        while (*co_await body.read()) {
        }
        co_return co_await client.stream(std::move(request), 5s);
    }(*client_, first, get("/second")));
    send(*ends_[0], "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
    settle();
    ASSERT_EQ(outcome(*next), "answered");
    EXPECT_EQ(ends_.size(), 1u) << "the kept connection";
    send(*ends_[0], "bb");
    auto reading = begin((***next->result).read());
    ASSERT_EQ(outcome(*reading), "answered");
    EXPECT_EQ(**reading->result, "bb");
}

TEST_F(Client, ABodyHasATimeOfItsOwn) {
    make();
    auto late = begin(client_->stream(get("/"), 5s, 60s));
    send(*ends_[0], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    settle();
    HttpBody& body = ***late->result;
    EXPECT_EQ(**await(body.read()), "one");
    auto reading = begin(body.read());
    advance(59s);
    EXPECT_FALSE(reading->result);
    send(*ends_[0], "3\r\ntwo\r\n");
    settle();
    EXPECT_EQ(***reading->result, "two");
    const auto ended = await(body.read());
    EXPECT_EQ(ended.error().code(), Code::kTimeout);
    EXPECT_NE(ended.error().message().find("60 s"), std::string::npos);
    EXPECT_EQ(await(read_to_end(*ends_[0])).substr(0, 3), "GET") << "the connection is closed";
    late->result.reset();

    auto complete = begin(client_->stream(get("/"), 5s, 60s));
    send(*ends_[1], "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
    settle();
    EXPECT_EQ(**await((***complete->result).read()), "one");
    EXPECT_EQ(*await((***complete->result).read()), std::nullopt);
    advance(60s);
    EXPECT_EQ(client_->idle_connections(), 1u) << "what has ended is never late";
}

TEST_F(Client, ABodyThatBreaksIsAnErrorAndOneThatIsDroppedCloses) {
    make();
    auto broken = begin(client_->stream(get("/"), 5s));
    send(*ends_[0], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    settle();
    EXPECT_EQ(**await((***broken->result).read()), "one");
    ends_[0]->close();
    EXPECT_EQ(await((***broken->result).read()).error().code(), Code::kTimeout);
    auto dropped = begin(client_->stream(get("/"), 5s));
    send(*ends_[1], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    settle();
    dropped->result.reset();
    await(read_until(*ends_[1], "\r\n\r\n"));
    EXPECT_EQ(await(read_to_end(*ends_[1])), "");
    broken->result.reset();
}

TEST_F(Client, AnUpgradeHandsTheConnectionOver) {
    make();
    auto call = begin(client_->upgrade(get("/exec"), 5s));
    send(*ends_[0], "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nearly ");
    settle();
    ASSERT_EQ(outcome(*call), "answered");
    ASSERT_NE((*call->result)->stream, nullptr);
    send(*ends_[0], "late");
    EXPECT_EQ(await(read_until(*(*call->result)->stream, "late")), "early late");
    auto refused = begin(client_->upgrade(get("/exec"), 5s));
    send(*ends_[1], "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    settle();
    ASSERT_EQ(outcome(*refused), "answered");
    EXPECT_EQ((*refused->result)->stream, nullptr);
    EXPECT_EQ((*refused->result)->response.status, 403u);
    EXPECT_EQ((*refused->result)->response.body, "no");
}

TEST_F(Client, AnAnswerToHalfARequestIsStillAnAnswer) {
    start_echo({.body_bytes = 10});
    make_for_server();
    HttpRequest large = get("/");
    large.method = "POST";
    large.body = std::string(30'000'000, 'x');
    const auto answer = await(client_->call(std::move(large), 60s));
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->status, 413u);
}

}  // namespace
}  // namespace muster::net::http_client_test
