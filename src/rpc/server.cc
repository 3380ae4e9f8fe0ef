#include "rpc/server.h"

#include <algorithm>
#include <list>
#include <vector>

#include "base/async/task_group.h"
#include "base/check.h"
#include "base/time/restarting_task.h"
#include "net/accept_each.h"
#include "rpc/internal/server_connection.h"
#include "rpc/internal/serving.h"

namespace muster::rpc {
namespace {

/// Connections over the limit that may be open at a time in order to be refused.
constexpr std::size_t kRefusals = 64;

}  // namespace

struct Server::State {
    State(const asio::any_io_executor& executor, Clock& clock, Options options)
        : serving(executor, clock, std::move(options)),
          came(executor),
          background(executor),
          supervisors(executor) {}

    void take(std::unique_ptr<net::ByteStream> stream, net::TlsServerContext* tls);
    Task<void> supervise(std::unique_ptr<ServerConnection> connection,
                         std::optional<Error> refusal);
    Task<void> watch_deadlines();
    Instant look(Instant now, Instant planned);
    void forget_callers(Instant now);
    /// No deadline is set closer than this.
    Duration shortest() const {
        return std::min({serving.limits().hello_time, serving.limits().liveness.dead_after,
                         Duration(std::chrono::seconds(1))});
    }

    Serving serving;
    Signal came;  // a connection has come
    std::list<std::unique_ptr<net::Listener>> listeners;
    std::list<std::unique_ptr<ServerConnection>> connections;
    bool watching = false;
    TaskGroup background;   // accepts connections, watches deadlines
    TaskGroup supervisors;  // one for each connection; they end with it
};

void Server::State::take(std::unique_ptr<net::ByteStream> stream, net::TlsServerContext* tls) {
    const std::size_t open = connections.size();
    const std::size_t most = serving.limits().connections;
    if (open >= most + kRefusals) return;
    std::optional<Error> refusal;
    if (open >= most)
        refusal.emplace(Code::kTooManyRequests, "the limit of connections is reached");
    supervisors.spawn("rpc connection",
                      supervise(std::make_unique<ServerConnection>(serving, std::move(stream), tls),
                                std::move(refusal)));
}

Task<void> Server::State::supervise(std::unique_ptr<ServerConnection> connection,
                                    std::optional<Error> refusal) {
    const auto place = connections.insert(connections.end(), std::move(connection));
    came.notify_all();
    if (serving.stopping) refusal.emplace(Code::kUnavailable, "this server is stopping");
    struct Leave {
        ~Leave() { all.erase(place); }
        std::list<std::unique_ptr<ServerConnection>>& all;
        std::list<std::unique_ptr<ServerConnection>>::iterator place;
    } const leave{connections, place};
    co_await (*place)->run(refusal);
}

/// One task for all: a timer for each connection would cost more than what it guards.
Task<void> Server::State::watch_deadlines() {
    Instant planned = serving.clock.now();
    for (;;) {
        planned = look(serving.clock.now(), planned);
        if (planned == Instant::max()) {
            co_await came.wait();
            planned = serving.clock.now();
        } else {
            co_await serving.clock.sleep_until(planned);
        }
    }
}

/// Returns when to look again; Instant::max(): when a connection comes.
Instant Server::State::look(Instant now, Instant planned) {
    forget_callers(now);
    if (connections.empty() && serving.callers.empty()) return Instant::max();
    Instant next = now + shortest();
    for (const auto& connection : connections) {
        const Instant deadline = connection->deadline(now, planned);
        if (deadline <= now)
            connection->expire();
        else
            next = std::min(next, deadline);
    }
    return next;
}

void Server::State::forget_callers(Instant now) {
    std::erase_if(serving.callers, [&](const auto& entry) {
        const Caller& caller = *entry.second;
        return caller.connection == nullptr && caller.kept.running() == 0 &&
               now - caller.left >= serving.limits().kept_time;
    });
}

Server::Server(const asio::any_io_executor& executor, Clock& clock, Options options)
    : state_(std::make_unique<State>(executor, clock, std::move(options))) {
    CHECK(!state_->serving.options.token.empty() && !state_->serving.options.name.empty(),
          "a server has a token and a name");
}

Server::~Server() = default;

void Server::on_call(std::string method, Handler handler) {
    state_->serving.call_handlers.emplace(std::move(method), std::move(handler));
}

void Server::on_stream(std::string method, StreamHandler handler) {
    state_->serving.stream_handlers.emplace(std::move(method), std::move(handler));
}

void Server::on_note(std::string method, NoteHandler handler) {
    state_->serving.note_handlers.emplace(std::move(method), std::move(handler));
}

void Server::on_gone(GoneHandler handler) { state_->serving.gone = std::move(handler); }

void Server::keep_to(LivenessLimits limits) {
    state_->serving.options.limits.liveness = limits;
    for (const auto& connection : state_->connections) connection->keep_to(limits);
}

void Server::serve(std::unique_ptr<net::Listener> listener, net::TlsServerContext* tls) {
    State* const state = state_.get();
    Clock& clock = state->serving.clock;
    if (!std::exchange(state->watching, true))
        spawn_restarting(state->background, clock, "rpc deadlines",
                         [state] { return state->watch_deadlines(); });
    state->listeners.push_back(std::move(listener));
    spawn_restarting(state->background, clock, "rpc accept",
                     [state, &clock, tls, from = state->listeners.back().get()] {
                         return net::accept_each(
                             *from, clock, "connections",
                             [state, tls](std::unique_ptr<net::ByteStream> stream) {
                                 state->take(std::move(stream), tls);
                             });
                     });
}

Task<void> Server::stop() {
    state_->serving.stopping = true;
    for (const auto& listener : state_->listeners) listener->close();
    co_await state_->serving.calls.stop();
    for (const auto& connection : state_->connections)
        connection->leave(Error(Code::kUnavailable, "this server is stopping"));
    co_await state_->supervisors.join();
    co_await state_->background.stop();
    state_->listeners.clear();
}

std::size_t Server::connections() const { return state_->serving.admitted; }

}  // namespace muster::rpc
