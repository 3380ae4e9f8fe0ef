#include "tcp_store/server.h"

#include <fmt/format.h>

#include <array>
#include <list>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/log.h"
#include "base/time/restarting_task.h"
#include "net/accept_each.h"
#include "tcp_store/busy_poll.h"
#include "tcp_store/session.h"

namespace muster::tcp_store {
namespace {

constexpr std::size_t kReadBytes = 4096;
/// Capacity kept for the next answers after a long one.
constexpr std::size_t kKept = std::size_t{16} * 1024;
/// Unread answers above which nothing more is read from a client.
constexpr std::size_t kUnread = std::size_t{32} << 20;
/// Between two lines about connections that were refused.
constexpr Duration kSayRefused = std::chrono::seconds(10);

}  // namespace

struct StoreServer::State {
    /// Shared by its reader and its writer.
    struct Connection {
        Connection(std::unique_ptr<net::ByteStream> its_stream,
                   const asio::any_io_executor& executor, StoreKeys::Waiter its_number)
            : stream(std::move(its_stream)), number(its_number), read_on(executor) {}

        std::unique_ptr<net::ByteStream> stream;
        StoreKeys::Waiter number;
        std::string out;            ///< answers that wait to be written
        std::size_t input = 0;      ///< bytes that belong to no whole command yet
        std::size_t written = 0;    ///< bytes that are being written
        std::size_t in_flight = 0;  ///< as it was counted last
        bool writing = false;       ///< a task is writing them, because the client reads slowly
        bool ended = false;
        Signal read_on;  ///< few enough answers wait, or the connection has ended
    };
    using Shared = std::shared_ptr<Connection>;

    State(const asio::any_io_executor& its_executor, Clock& its_clock, Admits its_admits,
          StoreLimits its_limits)
        : executor(its_executor),
          clock(its_clock),
          admits(std::move(its_admits)),
          limits(its_limits),
          say_refused(clock.now()),
          busy_poll(executor, clock, std::this_thread::yield),
          tasks(executor) {}

    void come(std::unique_ptr<net::ByteStream> stream);
    void refuse(const std::string& address, std::string_view why);
    void count(Connection& connection);
    Task<void> converse(Shared connection);
    Result<void> take(const Shared& connection, StoreReader& reader);
    void release(const Connection& speaker);
    void say(const Shared& connection);
    Task<void> write(Shared connection);
    void end(Connection& connection);

    asio::any_io_executor executor;
    Clock& clock;
    Admits admits;
    StoreLimits limits;
    Instant say_refused;
    std::size_t in_flight = 0;  ///< of all connections: commands and answers that are not whole
    StoreKeys keys;
    StoreKeys::Waiter last_number = 0;
    std::list<std::unique_ptr<net::Listener>> listeners;
    std::unordered_map<StoreKeys::Waiter, Shared> connections;
    BusyPoll busy_poll;
    TaskGroup tasks;
};

void StoreServer::State::come(std::unique_ptr<net::ByteStream> stream) {
    const std::string address = stream->peer_address();
    if (!admits(address)) return refuse(address, "it does not come from this job");
    if (connections.size() >= limits.connections)
        return refuse(address, "there are as many as the store takes");
    busy_poll.note_activity();
    tasks.spawn("store connection",
                converse(std::make_shared<Connection>(std::move(stream), executor, ++last_number)));
}

/// Said now and then only: whoever is refused may try again at once.
void StoreServer::State::refuse(const std::string& address, std::string_view why) {
    if (clock.now() < say_refused) return;
    say_refused = clock.now() + kSayRefused;
    log::warning(fmt::format("a connection to the store was refused: {}", why),
                 {{"from", address}});
}

/// To be called when what it has on its way has changed.
void StoreServer::State::count(Connection& connection) {
    const std::size_t now = connection.input + connection.out.size() + connection.written;
    in_flight += now - connection.in_flight;
    connection.in_flight = now;
}

Task<void> StoreServer::State::converse(Shared connection) {
    struct Leave {
        State& state;
        Connection& connection;
        ~Leave() {
            state.connections.erase(connection.number);
            state.keys.cancel(connection.number);
            state.end(connection);
            state.in_flight -= std::exchange(connection.in_flight, 0);
        }
    } const leave{*this, *connection};
    connections.emplace(connection->number, connection);
    StoreReader reader;
    std::array<char, kReadBytes> bytes;
    for (;;) {
        const auto size = co_await connection->stream->read_some(asio::buffer(bytes));
        if (!size || *size == 0 || connection->ended) co_return;
        busy_poll.note_activity();
        reader.put({bytes.data(), *size}, *size == bytes.size() && connection->stream->has_input());
        const Result<void> taken = take(connection, reader);
        if (!taken) {
            log::warning(
                "a client of the store was disconnected",
                {{"from", connection->stream->peer_address()}, {"error", taken.error().message()}});
            co_return;
        }
        while (connection->out.size() > kUnread && !connection->ended)
            co_await connection->read_on.wait();
    }
}

/// Executes all complete commands.
Result<void> StoreServer::State::take(const Shared& connection, StoreReader& reader) {
    for (;;) {
        TRY(std::optional<StoreCommand> command, reader.next());
        connection->input = reader.buffered();
        count(*connection);
        if (!command) break;
        TRY_VOID(check_room(keys, *command, limits, in_flight));
        TRY_VOID(answer(keys, connection->number, *std::move(command), connection->out));
        release(*connection);  // in the order of the commands, also for this client
    }
    say(connection);
    count(*connection);
    if (in_flight <= limits.in_flight) return {};
    return Error(Code::kTooLarge,
                 fmt::format("more than {} bytes are on their way", limits.in_flight));
}

/// Answers the waits that are over; for the client that is speaking, after its other answers.
void StoreServer::State::release(const Connection& speaker) {
    for (const StoreKeys::Waiter waiter : keys.take_released()) {
        const auto found = connections.find(waiter);
        if (found == connections.end()) continue;
        append_byte(found->second->out, kStopWaiting);
        if (waiter != speaker.number) say(found->second);
    }
}

/// Writes at once if the client has read everything before; otherwise a task does it.
void StoreServer::State::say(const Shared& connection) {
    if (connection->writing || connection->out.empty()) return;
    connection->out.erase(0, connection->stream->write_now(asio::buffer(connection->out)));
    if (connection->out.empty()) {
        if (connection->out.capacity() > kKept) connection->out.shrink_to_fit();
        return;
    }
    connection->writing = true;
    tasks.spawn("store answers", write(connection), [this, connection](const std::string&) {
        connection->writing = false;
        end(*connection);
    });
}

Task<void> StoreServer::State::write(Shared connection) {
    while (!connection->out.empty() && !connection->ended) {
        const std::string out = std::exchange(connection->out, {});
        connection->written = out.size();
        const Result<void> written = co_await connection->stream->write(asio::buffer(out));
        if (!written) end(*connection);
        connection->written = 0;
        if (!connection->ended) count(*connection);
        connection->read_on.notify_all();
    }
    connection->writing = false;
}

/// Stops reading from it and writing to it.
void StoreServer::State::end(Connection& connection) {
    connection.ended = true;
    connection.stream->close();
    connection.read_on.notify_all();
}

StoreServer::StoreServer(const asio::any_io_executor& executor, Clock& clock, Admits admits,
                         StoreLimits limits)
    : state_(std::make_unique<State>(executor, clock, std::move(admits), limits)) {
    spawn_restarting(state_->tasks, clock, "store burst",
                     [state = state_.get()] { return state->busy_poll.stay_awake(); });
}

StoreServer::~StoreServer() = default;

void StoreServer::serve(std::unique_ptr<net::Listener> listener) {
    state_->listeners.push_back(std::move(listener));
    spawn_restarting(state_->tasks, state_->clock, "store accept",
                     [state = state_.get(), from = state_->listeners.back().get()] {
                         return net::accept_each(*from, state->clock, "connections to the store",
                                                 [state](std::unique_ptr<net::ByteStream> stream) {
                                                     state->come(std::move(stream));
                                                 });
                     });
}

void StoreServer::begin_anew() {
    state_->keys.clear();
    for (const auto& [number, connection] : state_->connections) state_->end(*connection);
    state_->connections.clear();
}

Task<void> StoreServer::stop() {
    for (const auto& listener : state_->listeners) listener->close();
    co_await state_->tasks.stop();
    state_->listeners.clear();
}

std::size_t StoreServer::connections() const { return state_->connections.size(); }

}  // namespace muster::tcp_store
