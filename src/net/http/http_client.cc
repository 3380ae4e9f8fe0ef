#include "net/http/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>

#include "base/check.h"
#include "base/time/restarting_task.h"
#include "base/time/time_limit.h"
#include "net/internal/http/client_connection.h"
#include "net/tcp.h"

namespace muster::net {

namespace {

using Progress = ClientConnection::Progress;

/// How long a kept connection stays unwatched.
constexpr Duration kUnwatched = std::chrono::seconds(1);

/// Repeating them changes nothing (RFC 9110, section 9.2.2).
bool is_idempotent(std::string_view method) {
    static constexpr std::array<std::string_view, 6> kMethods = {"GET",    "HEAD",    "PUT",
                                                                 "DELETE", "OPTIONS", "TRACE"};
    return std::ranges::find(kMethods, method) != kMethods.end();
}

/// They have no effect (section 9.2.1).
bool is_safe(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

}  // namespace

HttpConnector tcp_connector(asio::any_io_executor executor, std::string address, std::uint16_t port,
                            TlsClientContext* tls) {
    return [executor = std::move(executor), address = std::move(address), port,
            tls]() -> Task<Result<std::unique_ptr<ByteStream>>> {
        // The lambda may go before its coroutine: what the coroutine needs is copied here.
        return [](asio::any_io_executor loop, std::string to, std::uint16_t at,
                  TlsClientContext* secured) -> Task<Result<std::unique_ptr<ByteStream>>> {
            CO_TRY(auto stream, co_await connect_tcp(loop, to, at));
            if (secured == nullptr) co_return std::move(stream);
            CO_TRY(auto session, co_await secured->connect(std::move(stream), to));
            co_return std::move(session);
        }(executor, address, port, tls);
    };
}

struct HttpClient::State {
    State(asio::any_io_executor loop, Clock& time, HttpConnector connector, HttpClientOptions given)
        : executor(std::move(loop)),
          clock(time),
          connect(std::move(connector)),
          options(std::move(given)),
          tasks(executor),
          timers(executor) {}

    using Connection = std::shared_ptr<ClientConnection>;

    /// The time limit of a call or of the head of its answer: at its end the connection is closed,
    /// which ends whatever waits for it. It has no timer and no task of its own, since hardly any
    /// limit is reached.
    class Deadline {
      public:
        /// Duration::max(): no limit.
        Deadline(State& state, Duration time)
            : state_(state), place_(state.deadlines.emplace(end_of(state, time), this)) {
            if (place_->first != Instant::max()) state_.wake_at(place_->first);
        }
        ~Deadline() { state_.deadlines.erase(place_); }
        Deadline(const Deadline&) = delete;
        Deadline& operator=(const Deadline&) = delete;

        Duration left() const { return place_->first - state_.clock.now(); }
        bool passed() const { return passed_; }
        void pass() {
            passed_ = true;
            if (connection_ != nullptr) connection_->close();
        }

        /// While this exists, the connection ends when the time does.
        class Hold {
          public:
            Hold(Deadline& deadline, ClientConnection& connection) : deadline_(deadline) {
                deadline_.connection_ = &connection;
                if (deadline_.passed_) connection.close();
            }
            ~Hold() { deadline_.connection_ = nullptr; }
            Hold(const Hold&) = delete;
            Hold& operator=(const Hold&) = delete;

          private:
            Deadline& deadline_;
        };

      private:
        static Instant end_of(const State& state, Duration time) {
            return time == Duration::max() ? Instant::max() : state.clock.now() + time;
        }

        State& state_;
        std::multimap<Instant, Deadline*>::iterator place_;
        ClientConnection* connection_ = nullptr;
        bool passed_ = false;
    };

    /// A connection in use: stop() closes it.
    class Use {
      public:
        Use(State& state, Connection connection, std::uint64_t generation)
            : state_(&state),
              place_(state.used.insert(state.used.end(), std::move(connection))),
              generation_(generation) {}
        ~Use() {
            if (state_ == nullptr) return;
            if (*place_) (*place_)->close();
            state_->used.erase(place_);
        }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        ClientConnection& operator*() const { return **place_; }
        ClientConnection* operator->() const { return place_->get(); }
        /// Keeps the connection for another request if it can serve one.
        void give_back() {
            if ((*place_)->reusable() && generation_ == state_->generation)
                state_->keep(std::exchange(*place_, nullptr));
        }
        std::unique_ptr<ByteStream> take_stream() {
            return std::exchange(*place_, nullptr)->take_stream();
        }

      private:
        State* state_;
        std::list<Connection>::iterator place_;
        std::uint64_t generation_;
    };

    class Body;

    void keep(Connection connection);
    Task<void> watch_those_left();
    void watch(const Connection& connection);
    Task<void> watch_idle(Connection connection);
    static Task<void> end_watch(Connection connection);
    static Task<bool> watched(Connection connection);
    /// A kept connection, or null.
    Task<Connection> take_idle();
    Task<Result<Connection>> make_connection(Duration most);
    Result<void> may_be_sent(const HttpRequest& request) const;
    /// Sends `request` and waits for the head of the answer.
    Task<Result<std::unique_ptr<Use>>> exchange(const HttpRequest& request, Progress& progress,
                                                Deadline& deadline);
    /// `made_in`: the generation when it was made.
    Task<Result<std::unique_ptr<Use>>> try_once(Connection connection, std::uint64_t made_in,
                                                const std::string& head, const HttpRequest& request,
                                                Progress& progress, Deadline& deadline);
    Task<Result<HttpResponse>> call(const HttpRequest& request, Progress& progress,
                                    Deadline& deadline);

    /// The error for an exchange without an answer, or that took too long.
    template <class T>
    Result<T> judged(Result<T> ended, const HttpRequest& request, Duration time,
                     const Deadline& deadline, const Progress& progress) const;

    void wake_at(Instant when);
    Task<void> pass_deadlines(Instant when);

    asio::any_io_executor executor;
    Clock& clock;
    HttpConnector connect;
    HttpClientOptions options;
    TaskGroup tasks;
    TaskGroup timers;
    std::multimap<Instant, Deadline*> deadlines;
    Instant waking_at = Instant::max();
    std::list<Connection> idle;  // the one kept longest comes first
    bool watches_those_left = false;
    std::list<Connection> used;
    std::uint64_t generation = 0;  // of connections; those of earlier ones are not kept
    bool stopping = false;
};

class HttpClient::State::Body final : public HttpBody {
  public:
    Body(State& state, std::unique_ptr<Use> use, Duration time)
        : time_(time),
          use_(std::move(use)),
          deadline_(state, time),
          hold_(std::in_place, deadline_, **use_) {
        head_.status = (*use_)->response().status;
        head_.headers = (*use_)->response().headers;
    }

    const HttpResponse& head() const override { return head_; }

    Task<Result<std::optional<std::string>>> read() override {
        for (;;) {
            if (!use_) co_return std::nullopt;
            std::string& body = (*use_)->response().body;
            if (!body.empty()) co_return std::exchange(body, {});
            const Result<bool> more = co_await (*use_)->receive_body();
            if (!more && deadline_.passed())
                co_return Error(
                    Code::kTimeout,
                    fmt::format("the answer did not end in {} s",
                                std::chrono::ceil<std::chrono::seconds>(time_).count()));
            if (!more) co_return more.error();
            if (*more) continue;
            hold_.reset();
            use_->give_back();
            use_.reset();
        }
    }

    bool gather() override { return use_ && (*use_)->response().body.empty() && (*use_)->gather(); }

  private:
    Duration time_;
    std::unique_ptr<Use> use_;  // null after the end
    Deadline deadline_;
    std::optional<Deadline::Hold> hold_;
    HttpResponse head_;
};

// ---- connections ----

/// Most are taken again very soon, so they are not watched for the first moment: the task that
/// takes one checks whether it has ended.
void HttpClient::State::keep(Connection connection) {
    if (stopping) return connection->close();
    connection->kept_at = clock.now();
    connection->is_watched = false;
    idle.push_back(std::move(connection));
    if (idle.size() > options.idle_connections) {
        const Connection oldest = idle.front();
        if (!oldest->is_watched) idle.pop_front();
        oldest->close();
    }
    if (std::exchange(watches_those_left, true)) return;
    spawn_restarting(timers, clock, "idle http connections", [this] { return watch_those_left(); });
}

Task<void> HttpClient::State::watch_those_left() {
    const Duration moment = std::min(kUnwatched, options.idle_time);
    for (bool any = true; any;) {
        co_await clock.sleep_for(moment);
        any = false;
        for (const Connection& connection : std::list<Connection>(idle)) {
            if (connection->is_watched) continue;
            if (clock.now() - connection->kept_at >= moment)
                watch(connection);
            else
                any = true;
        }
    }
    watches_those_left = false;
}

void HttpClient::State::watch(const Connection& connection) {
    connection->is_watched = true;
    // Immediately: a task that takes the connection before ours has begun must find the watch that
    // it ends, or there would be two readers.
    connection->watch().spawn(
        "watch of an idle http connection", connection->watch_idle(),
        [connection = connection.get()](const std::string&) { connection->close(); });
    tasks.spawn("idle http connection", watch_idle(connection),
                [this, connection](const std::string&) {
                    std::erase(idle, connection);
                    connection->close();
                    tasks.spawn("end of an idle http connection", end_watch(connection));
                });
}

/// Until it is taken, is too old, or the server ends it.
Task<void> HttpClient::State::watch_idle(Connection connection) {
    const Instant old = connection->kept_at + options.idle_time;
    const auto ended = co_await within(clock, old - clock.now(), watched(connection));
    if (!ended && std::erase(idle, connection) > 0) {
        connection->close();
        co_await connection->watch().join();
    }
    if (connection->ended()) std::erase(idle, connection);
}

/// A connection lives longer than what watches it.
Task<void> HttpClient::State::end_watch(Connection connection) {
    co_await connection->watch().join();
}

Task<bool> HttpClient::State::watched(Connection connection) {
    co_await connection->watch().join();
    co_return true;
}

Task<HttpClient::State::Connection> HttpClient::State::take_idle() {
    while (!idle.empty()) {
        Connection connection = std::move(idle.back());
        idle.pop_back();
        if (connection->is_watched) {
            connection->watch().cancel();
            co_await connection->watch().join();
        } else if (connection->has_input() ||
                   clock.now() - connection->kept_at >= options.idle_time) {
            connection->close();
        }
        if (!connection->ended()) co_return connection;
    }
    co_return nullptr;
}

Task<Result<HttpClient::State::Connection>> HttpClient::State::make_connection(Duration most) {
    auto stream = co_await within(clock, std::min(options.connect_time, most), connect());
    if (!stream) co_return Error(Code::kUnavailable, "the server does not take the connection");
    if (!*stream) co_return Error(Code::kUnavailable, stream->error().message());
    const HttpMessageLimits limits{.head = options.head_bytes, .body = SIZE_MAX};
    co_return std::make_shared<ClientConnection>(executor, **std::move(stream), limits);
}

// ---- requests ----

/// Asked when there is a connection: to make one may have taken long, or the process has slept.
Result<void> HttpClient::State::may_be_sent(const HttpRequest& request) const {
    if (clock.now() < request.send_before) return {};
    return Error(Code::kUnavailable, "it was not sent, as it is too late for it");
}

Task<Result<std::unique_ptr<HttpClient::State::Use>>> HttpClient::State::try_once(
    Connection connection, std::uint64_t made_in, const std::string& head,
    const HttpRequest& request, Progress& progress, Deadline& deadline) {
    auto use = std::make_unique<Use>(*this, std::move(connection), made_in);
    const Deadline::Hold hold(deadline, **use);
    CO_TRY_VOID(co_await (*use)->exchange(head, request, progress));
    co_return std::move(use);
}

Task<Result<std::unique_ptr<HttpClient::State::Use>>> HttpClient::State::exchange(
    const HttpRequest& request, Progress& progress, Deadline& deadline) {
    if (stopping) co_return Error(Code::kCancelled, "the client stops");
    CO_TRY(const std::string head, request_head(request, options.host));
    // Connections that are retired while they are taken or made belong to an earlier generation.
    std::uint64_t made_in = generation;
    while (Connection kept = co_await take_idle()) {
        CO_TRY_VOID(may_be_sent(request));
        auto answered =
            co_await try_once(std::move(kept), made_in, head, request, progress, deadline);
        if (answered || stopping || deadline.passed() || progress.received ||
            !is_idempotent(request.method))
            co_return answered;
        if (is_safe(request.method)) progress.sent = false;
    }
    made_in = generation;
    CO_TRY(Connection made, co_await make_connection(deadline.left()));
    if (stopping) co_return Error(Code::kCancelled, "the client stops");
    CO_TRY_VOID(may_be_sent(request));
    co_return co_await try_once(std::move(made), made_in, head, request, progress, deadline);
}

Task<Result<HttpResponse>> HttpClient::State::call(const HttpRequest& request, Progress& progress,
                                                   Deadline& deadline) {
    CO_TRY(const auto use, co_await exchange(request, progress, deadline));
    {
        const Deadline::Hold hold(deadline, **use);
        for (;;) {
            CO_TRY(const bool more, co_await (*use)->receive_body());
            if ((*use)->response().body.size() > options.body_bytes)
                co_return Error(Code::kTimeout, fmt::format("the answer is larger than {} bytes",
                                                            options.body_bytes));
            if (!more) break;
        }
    }
    HttpResponse response = std::move((*use)->response());
    (*use)->response() = {.status = response.status, .headers = response.headers, .body = {}};
    use->give_back();
    co_return response;
}

template <class T>
Result<T> HttpClient::State::judged(Result<T> ended, const HttpRequest& request, Duration time,
                                    const Deadline& deadline, const Progress& progress) const {
    if (ended || ended.error().code() == Code::kBadRequest) return ended;
    const std::string what = request.method + " " + request.target;
    const Code unanswered = progress.sent ? Code::kTimeout : Code::kUnavailable;
    if (deadline.passed() || (!stopping && deadline.left() <= Duration::zero()))
        return Error(unanswered,
                     fmt::format("{}: no answer in {} ms", what,
                                 std::chrono::ceil<std::chrono::milliseconds>(time).count()));
    const Code code = stopping ? Code::kCancelled : unanswered;
    return Error(code, fmt::format("{}: {}", what, ended.error().message()));
}

// ---- deadlines ----

void HttpClient::State::wake_at(Instant when) {
    if (waking_at <= when || stopping) return;
    waking_at = when;
    spawn_restarting(timers, clock, "deadlines of http calls",
                     [this, when] { return pass_deadlines(when); });
}

Task<void> HttpClient::State::pass_deadlines(Instant when) {
    co_await clock.sleep_until(when);
    // If an earlier one came, it has done this. After a fault it is done again, whoever failed.
    if (waking_at == when) waking_at = Instant::max();
    const Instant now = clock.now();
    auto next = deadlines.begin();
    for (; next != deadlines.end() && next->first <= now; ++next) next->second->pass();
    if (next != deadlines.end() && next->first != Instant::max()) wake_at(next->first);
}

HttpClient::HttpClient(asio::any_io_executor executor, Clock& clock, HttpConnector connect,
                       HttpClientOptions options)
    : state_(std::make_unique<State>(std::move(executor), clock, std::move(connect),
                                     std::move(options))) {}

HttpClient::~HttpClient() { CHECK(state_->used.empty(), "a call or a body outlived its client"); }

Task<Result<HttpResponse>> HttpClient::call(HttpRequest request, Duration time) {
    Progress progress;
    State::Deadline deadline(*state_, time);
    auto ended = co_await state_->call(request, progress, deadline);
    co_return state_->judged(std::move(ended), request, time, deadline, progress);
}

Task<Result<std::unique_ptr<HttpBody>>> HttpClient::stream(HttpRequest request, Duration time,
                                                           Duration body_time) {
    Progress progress;
    State::Deadline deadline(*state_, time);
    auto ended = co_await state_->exchange(request, progress, deadline);
    CO_TRY(auto use, state_->judged(std::move(ended), request, time, deadline, progress));
    co_return std::make_unique<State::Body>(*state_, std::move(use), body_time);
}

Task<Result<HttpUpgrade>> HttpClient::upgrade(HttpRequest request, Duration time) {
    Progress progress;
    State::Deadline deadline(*state_, time);
    auto ended = co_await state_->exchange(request, progress, deadline);
    CO_TRY(const auto use, state_->judged(std::move(ended), request, time, deadline, progress));
    HttpUpgrade upgrade;
    if ((*use)->response().status == 101) {
        upgrade.response = std::move((*use)->response());
        upgrade.stream = use->take_stream();
        co_return upgrade;
    }
    for (bool more = true; more;) {
        CO_TRY(more, co_await (*use)->receive_body());
        if ((*use)->response().body.size() > state_->options.body_bytes) break;
    }
    upgrade.response = std::move((*use)->response());
    co_return upgrade;
}

void HttpClient::retire_connections() {
    ++state_->generation;
    for (const auto& connection : std::exchange(state_->idle, {})) connection->close();
}

Task<void> HttpClient::stop() {
    state_->stopping = true;
    for (const auto& connection : state_->used)
        if (connection) connection->close();
    for (const auto& connection : std::exchange(state_->idle, {})) connection->close();
    co_await state_->timers.stop();
    co_await state_->tasks.join();
}

std::size_t HttpClient::idle_connections() const { return state_->idle.size(); }

}  // namespace muster::net
