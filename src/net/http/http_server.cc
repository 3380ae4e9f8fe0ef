#include "net/http/http_server.h"

#include <algorithm>
#include <list>

#include "base/async/task_group.h"
#include "base/check.h"
#include "base/time/restarting_task.h"
#include "net/accept_each.h"
#include "net/internal/http/http_connection.h"

namespace muster::net {

namespace {

/// Connections over the limit that may be open at the same time to be refused.
constexpr std::size_t kRefusals = 64;

}  // namespace

// ---- HttpExchange ----

HttpRequest& HttpExchange::request() { return connection_.request(); }

void HttpExchange::know_client() { connection_.know_client(); }

void HttpExchange::exempt_from_budget() { connection_.exempt_from_budget(); }

bool HttpExchange::hold_request() { return connection_.hold_request(); }
bool HttpExchange::hold_answer(std::size_t bytes) { return connection_.hold_answer(bytes); }

bool HttpExchange::has_more_body() const { return connection_.has_more_body(); }

Task<Result<void>> HttpExchange::read_body() { return connection_.read_body(); }

void HttpExchange::respond(unsigned status, HttpHeaders headers, std::string body) {
    connection_.respond(status, std::move(headers), std::move(body), nullptr);
}

void HttpExchange::respond(unsigned status, HttpHeaders headers,
                           std::shared_ptr<const std::string> body) {
    connection_.respond(status, std::move(headers), {}, std::move(body));
}

Task<Result<void>> HttpExchange::begin(unsigned status, HttpHeaders headers) {
    return connection_.begin(status, std::move(headers));
}

Task<Result<void>> HttpExchange::write(std::string_view piece) { return connection_.write(piece); }

Task<Result<void>> HttpExchange::end() { return connection_.end(); }

Task<Result<std::unique_ptr<ByteStream>>> HttpExchange::upgrade(HttpHeaders headers) {
    return connection_.upgrade(std::move(headers));
}

bool HttpExchange::answered() const { return connection_.answered(); }

bool HttpExchange::may_respond() const { return connection_.may_respond(); }

unsigned HttpExchange::status() const { return connection_.status(); }

HttpServer::Handler with_body(HttpServer::Handler handler) {
    return [handler = std::move(handler)](HttpExchange& exchange) {
        return [](const HttpServer::Handler& then, HttpExchange& one) -> Task<void> {
            if (one.has_more_body() && !co_await one.read_body()) co_return;
            co_await then(one);
        }(handler, exchange);
    };
}

// ---- HttpServer ----

struct HttpServer::State {
    State(const asio::any_io_executor& executor, Clock& clock, HttpServerLimits limits,
          Handler handler)
        : serving(executor, clock, limits, std::move(handler)),
          background(executor),
          supervisors(executor) {
        const HttpServerLimits& given = serving.limits;
        shortest = std::min({given.head_time, given.body_time, given.idle_time, given.write_time,
                             Duration(std::chrono::seconds(2))});
        CHECK(shortest > Duration::zero(), "a limit of no time");
    }

    void take(std::unique_ptr<ByteStream> stream, TlsServerContext* tls);
    void lack_room();
    Task<void> supervise(std::shared_ptr<HttpConnection> connection);
    Task<void> watch_deadlines();
    Task<void> lose_patience();

    HttpServing serving;
    Duration shortest;  // no deadline is set closer than this
    std::list<std::unique_ptr<Listener>> listeners;
    std::list<std::shared_ptr<HttpConnection>> connections;
    bool watching_deadlines = false;
    TaskGroup background;   // accepts, watches deadlines
    TaskGroup supervisors;  // one for each connection, with the same lifetime
};

void HttpServer::State::take(std::unique_ptr<ByteStream> stream, TlsServerContext* tls) {
    const HttpServerLimits& limits = serving.limits;
    while (!serving.strangers.empty() &&
           (serving.strangers.size() >= *limits.strangers || serving.open >= limits.connections))
        serving.strangers.front()->make_room();
    if (serving.open >= limits.connections + kRefusals) return;
    supervisors.spawn("http connection",
                      supervise(std::make_shared<HttpConnection>(
                          serving, std::move(stream), tls, serving.open >= limits.connections)));
}

/// Called if no connection can be accepted for lack of a descriptor.
void HttpServer::State::lack_room() {
    if (!serving.strangers.empty()) serving.strangers.front()->make_room();
}

Task<void> HttpServer::State::supervise(std::shared_ptr<HttpConnection> connection) {
    if (serving.stopping) co_return;
    const auto place = connections.insert(connections.end(), connection);
    struct Leave {
        ~Leave() { all.erase(place); }
        std::list<std::shared_ptr<HttpConnection>>& all;
        std::list<std::shared_ptr<HttpConnection>>::iterator place;
    } const leave{connections, place};
    connection->tasks().spawn("http connection", connection->run());
    co_await connection->tasks().join();
}

/// One task watches all deadlines: a timer for each connection would cost more than what it guards.
Task<void> HttpServer::State::watch_deadlines() {
    for (;;) {
        const Instant now = serving.clock.now();
        Instant next = Instant::max();
        std::vector<std::shared_ptr<HttpConnection>> expired;
        for (const auto& connection : connections) {
            if (connection->deadline() <= now) {
                expired.push_back(connection);
            } else {
                next = std::min(next, connection->deadline());
            }
        }
        for (const auto& connection : expired) connection->expire();
        if (next == Instant::max()) {
            serving.awaits_deadline = true;
            co_await serving.deadline_set.wait();
            serving.awaits_deadline = false;
        } else {
            // A deadline that is set meanwhile is after the end of this sleep.
            co_await serving.clock.sleep_until(std::min(next, now + shortest));
        }
    }
}

Task<void> HttpServer::State::lose_patience() {
    co_await serving.clock.sleep_for(serving.limits.stop_time);
    const auto left = connections;
    for (const auto& connection : left) connection->abandon();
}

HttpServer::HttpServer(asio::any_io_executor executor, Clock& clock, HttpServerLimits limits,
                       Handler handler)
    : state_(std::make_unique<State>(executor, clock, limits, std::move(handler))) {}

HttpServer::~HttpServer() = default;

void HttpServer::serve(std::unique_ptr<Listener> listener, TlsServerContext* tls) {
    State* const state = state_.get();
    Clock& clock = state->serving.clock;
    if (!std::exchange(state->watching_deadlines, true))
        spawn_restarting(state->background, clock, "http deadlines",
                         [state] { return state->watch_deadlines(); });
    state->listeners.push_back(std::move(listener));
    spawn_restarting(state->background, clock, "http accept",
                     [state, &clock, tls, from = state->listeners.back().get()] {
                         return accept_each(
                             *from, clock, "connections",
                             [state, tls](std::unique_ptr<ByteStream> stream) {
                                 state->take(std::move(stream), tls);
                             },
                             [state] { state->lack_room(); });
                     });
}

Task<void> HttpServer::stop() {
    state_->serving.stopping = true;
    for (const auto& listener : state_->listeners) listener->close();
    const auto open = state_->connections;
    for (const auto& connection : open) connection->stop();
    spawn_restarting(state_->background, state_->serving.clock, "http patience",
                     [state = state_.get()] { return state->lose_patience(); });
    co_await state_->supervisors.join();
    co_await state_->background.stop();
    state_->listeners.clear();
}

std::size_t HttpServer::connections() const { return state_->connections.size(); }

}  // namespace muster::net
