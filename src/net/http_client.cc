#include "net/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <list>

#include "base/check.h"
#include "base/time_limit.h"
#include "net/internal/client_connection.h"
#include "net/tcp.h"

namespace muster::net {

namespace {

using Progress = ClientConnection::Progress;

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

HttpConnector unix_connector(asio::any_io_executor executor, std::string path) {
    return [executor = std::move(executor), path = std::move(path)] {
        return connect_unix(executor, path);
    };
}

struct HttpClient::State {
    State(asio::any_io_executor loop, Clock& time, HttpConnector connector, HttpClientOptions given)
        : executor(std::move(loop)),
          clock(time),
          connect(std::move(connector)),
          options(std::move(given)),
          tasks(executor) {}

    using Connection = std::shared_ptr<ClientConnection>;

    /// A connection that is used: stop() closes it.
    class Use {
      public:
        Use(State& state, Connection connection)
            : state_(&state), place_(state.used.insert(state.used.end(), std::move(connection))) {}
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
            if ((*place_)->reusable()) state_->keep(std::exchange(*place_, nullptr));
        }
        std::unique_ptr<ByteStream> take_stream() {
            return std::exchange(*place_, nullptr)->take_stream();
        }

      private:
        State* state_;
        std::list<Connection>::iterator place_;
    };

    class Body;

    void keep(Connection connection);
    Task<void> watch_idle(Connection connection);
    static Task<bool> watched(Connection connection);
    /// One that was kept, or null.
    Task<Connection> take_idle();
    Task<Result<Connection>> make_connection();
    /// Sends `request` and waits for the head of the answer.
    Task<Result<std::unique_ptr<Use>>> exchange(const HttpRequest& request, Progress& progress);
    Task<Result<std::unique_ptr<Use>>> try_once(Connection connection, const std::string& head,
                                                const HttpRequest& request, Progress& progress);
    Task<Result<HttpResponse>> call(const HttpRequest& request, Progress& progress);

    /// `task` within `time`; what it means to be late is in `progress`.
    template <class T>
    Task<Result<T>> limited(Duration time, Task<Result<T>> task, const Progress& progress,
                            std::string what);

    asio::any_io_executor executor;
    Clock& clock;
    HttpConnector connect;
    HttpClientOptions options;
    TaskGroup tasks;
    std::list<Connection> idle;  // the longest kept first
    std::list<Connection> used;
    bool stopping = false;
};

class HttpClient::State::Body final : public HttpBody {
  public:
    explicit Body(std::unique_ptr<Use> use) : use_(std::move(use)) {
        head_.status = (*use_)->response().status;
        head_.headers = (*use_)->response().headers;
    }

    const HttpResponse& head() const override { return head_; }

    Task<Result<std::optional<std::string>>> read() override {
        for (;;) {
            if (!use_) co_return std::nullopt;
            std::string& body = (*use_)->response().body;
            if (!body.empty()) co_return std::exchange(body, {});
            CO_TRY(const bool more, co_await (*use_)->receive_body());
            if (more) continue;
            use_->give_back();
            use_.reset();
        }
    }

  private:
    std::unique_ptr<Use> use_;  // null after the end
    HttpResponse head_;
};

// ---- connections ----

void HttpClient::State::keep(Connection connection) {
    if (stopping) return connection->close();
    idle.push_back(connection);
    if (idle.size() > options.idle_connections) idle.front()->close();
    // At once: who takes it before a task of ours has begun must find the watch that it ends, or
    // there are two readers.
    connection->watch().spawn("idle http connection", connection->watch_idle());
    tasks.spawn("idle http connection", watch_idle(std::move(connection)));
}

/// Until it is taken, too old, or ended by the server.
Task<void> HttpClient::State::watch_idle(Connection connection) {
    const auto ended = co_await within(clock, options.idle_time, watched(connection));
    if (!ended && std::erase(idle, connection) > 0) {
        connection->close();
        co_await connection->watch().join();
    }
    if (connection->ended()) std::erase(idle, connection);
}

Task<bool> HttpClient::State::watched(Connection connection) {
    co_await connection->watch().join();
    co_return true;
}

Task<HttpClient::State::Connection> HttpClient::State::take_idle() {
    while (!idle.empty()) {
        Connection connection = std::move(idle.back());
        idle.pop_back();
        connection->watch().cancel();
        co_await connection->watch().join();
        if (!connection->ended()) co_return connection;
    }
    co_return nullptr;
}

Task<Result<HttpClient::State::Connection>> HttpClient::State::make_connection() {
    auto stream = co_await within(clock, options.connect_time, connect());
    if (!stream) co_return Error(Code::kUnavailable, "the server does not take the connection");
    if (!*stream) co_return Error(Code::kUnavailable, stream->error().message());
    const HttpMessageLimits limits{.head = options.head_bytes, .body = SIZE_MAX};
    co_return std::make_shared<ClientConnection>(executor, **std::move(stream), limits);
}

// ---- requests ----

Task<Result<std::unique_ptr<HttpClient::State::Use>>> HttpClient::State::try_once(
    Connection connection, const std::string& head, const HttpRequest& request,
    Progress& progress) {
    auto use = std::make_unique<Use>(*this, std::move(connection));
    CO_TRY_VOID(co_await (*use)->exchange(head, request, progress));
    co_return std::move(use);
}

Task<Result<std::unique_ptr<HttpClient::State::Use>>> HttpClient::State::exchange(
    const HttpRequest& request, Progress& progress) {
    if (stopping) co_return Error(Code::kCancelled, "the client stops");
    CO_TRY(const std::string head, request_head(request, options.host));
    while (Connection kept = co_await take_idle()) {
        auto answered = co_await try_once(std::move(kept), head, request, progress);
        if (answered || stopping || progress.received || !is_idempotent(request.method))
            co_return answered;
        if (is_safe(request.method)) progress.sent = false;
    }
    CO_TRY(Connection made, co_await make_connection());
    if (stopping) co_return Error(Code::kCancelled, "the client stops");
    co_return co_await try_once(std::move(made), head, request, progress);
}

Task<Result<HttpResponse>> HttpClient::State::call(const HttpRequest& request, Progress& progress) {
    CO_TRY(const auto use, co_await exchange(request, progress));
    for (;;) {
        CO_TRY(const bool more, co_await (*use)->receive_body());
        if ((*use)->response().body.size() > options.body_bytes)
            co_return Error(Code::kTimeout,
                            fmt::format("the answer is larger than {} bytes", options.body_bytes));
        if (!more) break;
    }
    HttpResponse response = std::move((*use)->response());
    (*use)->response() = {.status = response.status, .headers = response.headers, .body = {}};
    use->give_back();
    co_return response;
}

template <class T>
Task<Result<T>> HttpClient::State::limited(Duration time, Task<Result<T>> task,
                                           const Progress& progress, std::string what) {
    auto ended = co_await within(clock, time, std::move(task));
    const Code unanswered = progress.sent ? Code::kTimeout : Code::kUnavailable;
    if (!ended)
        co_return Error(unanswered,
                        fmt::format("{}: no answer in {} ms", what,
                                    std::chrono::ceil<std::chrono::milliseconds>(time).count()));
    if (*ended || ended->error().code() == Code::kBadRequest) co_return *std::move(ended);
    const Code code = stopping ? Code::kCancelled : unanswered;
    co_return Error(code, fmt::format("{}: {}", what, ended->error().message()));
}

HttpClient::HttpClient(asio::any_io_executor executor, Clock& clock, HttpConnector connect,
                       HttpClientOptions options)
    : state_(std::make_unique<State>(std::move(executor), clock, std::move(connect),
                                     std::move(options))) {}

HttpClient::~HttpClient() { CHECK(state_->used.empty(), "a call or a body outlived its client"); }

Task<Result<HttpResponse>> HttpClient::call(HttpRequest request, Duration time) {
    Progress progress;
    co_return co_await state_->limited(time, state_->call(request, progress), progress,
                                       request.method + " " + request.target);
}

Task<Result<std::unique_ptr<HttpBody>>> HttpClient::stream(HttpRequest request, Duration time) {
    Progress progress;
    CO_TRY(auto use, co_await state_->limited(time, state_->exchange(request, progress), progress,
                                              request.method + " " + request.target));
    co_return std::make_unique<State::Body>(std::move(use));
}

Task<Result<HttpUpgrade>> HttpClient::upgrade(HttpRequest request, Duration time) {
    Progress progress;
    const std::string what = request.method + " " + request.target;
    CO_TRY(const auto use,
           co_await state_->limited(time, state_->exchange(request, progress), progress, what));
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

Task<void> HttpClient::stop() {
    state_->stopping = true;
    for (const auto& connection : state_->used)
        if (connection) connection->close();
    for (const auto& connection : std::exchange(state_->idle, {})) connection->close();
    co_await state_->tasks.join();
}

std::size_t HttpClient::idle_connections() const { return state_->idle.size(); }

}  // namespace muster::net
