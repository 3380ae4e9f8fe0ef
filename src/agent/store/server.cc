#include "agent/store/server.h"

#include <array>
#include <list>
#include <unordered_map>

#include "agent/store/talk.h"
#include "base/first_of.h"
#include "base/log.h"
#include "base/signal.h"
#include "base/task_group.h"
#include "net/accept_each.h"

namespace muster::agent {
namespace {

constexpr std::size_t kReadBytes = 4096;
/// Kept for the next answers after a long one.
constexpr std::size_t kKept = std::size_t{16} * 1024;
/// Answers that a client may leave unread; then nothing more of it is read.
constexpr std::size_t kUnread = std::size_t{32} << 20;

}  // namespace

struct StoreServer::State {
    struct Connection {
        Connection(std::unique_ptr<net::ByteStream> its_stream,
                   const asio::any_io_executor& executor, StoreKeys::Waiter its_number)
            : stream(std::move(its_stream)), number(its_number), changed(executor) {}

        std::unique_ptr<net::ByteStream> stream;
        StoreKeys::Waiter number;
        std::string out;  ///< answers that wait to be written
        bool ended = false;
        Signal changed;
    };

    State(const asio::any_io_executor& its_executor, Clock& its_clock, Admits its_admits)
        : executor(its_executor),
          clock(its_clock),
          admits(std::move(its_admits)),
          tasks(executor) {}

    void come(std::unique_ptr<net::ByteStream> stream);
    Task<void> converse(std::unique_ptr<net::ByteStream> stream);
    Task<void> read(Connection& connection);
    Task<void> write(Connection& connection);
    Result<void> take(Connection& connection, StoreReader& reader);
    void release();

    asio::any_io_executor executor;
    Clock& clock;
    Admits admits;
    StoreKeys keys;
    StoreKeys::Waiter last_number = 0;
    std::list<std::unique_ptr<net::Listener>> listeners;
    std::unordered_map<StoreKeys::Waiter, Connection*> connections;
    TaskGroup tasks;
};

void StoreServer::State::come(std::unique_ptr<net::ByteStream> stream) {
    const std::string address = stream->peer_address();
    if (admits(address))
        tasks.spawn("store connection", converse(std::move(stream)));
    else
        log::warning("a connection to the store was refused: it is not from this job",
                     {{"from", address}});
}

Task<void> StoreServer::State::converse(std::unique_ptr<net::ByteStream> stream) {
    Connection connection(std::move(stream), executor, ++last_number);
    struct Leave {
        State& state;
        Connection& connection;
        ~Leave() {
            state.connections.erase(connection.number);
            state.keys.cancel(connection.number);
        }
    } const leave{*this, connection};
    connections.emplace(connection.number, &connection);
    co_await first_of(read(connection), write(connection));
}

Task<void> StoreServer::State::read(Connection& connection) {
    StoreReader reader;
    std::array<char, kReadBytes> bytes;
    for (;;) {
        const auto size = co_await connection.stream->read_some(asio::buffer(bytes));
        if (!size || *size == 0 || connection.ended) co_return;
        reader.put({bytes.data(), *size});
        const Result<void> taken = take(connection, reader);
        if (!taken) {
            log::warning(
                "a client of the store was cut off",
                {{"from", connection.stream->peer_address()}, {"error", taken.error().message()}});
            co_return;
        }
        while (connection.out.size() > kUnread && !connection.ended)
            co_await connection.changed.wait();
    }
}

/// All commands that are whole.
Result<void> StoreServer::State::take(Connection& connection, StoreReader& reader) {
    for (;;) {
        TRY(std::optional<StoreCommand> command, reader.next());
        if (!command) break;
        TRY_VOID(answer(keys, connection.number, *std::move(command), connection.out));
        release();  // in the order of the commands, also for this client
    }
    if (!connection.out.empty()) connection.changed.notify_all();
    return {};
}

/// Tells those whose waits are over.
void StoreServer::State::release() {
    for (const StoreKeys::Waiter waiter : keys.take_released()) {
        const auto found = connections.find(waiter);
        if (found == connections.end()) continue;
        append_byte(found->second->out, kStopWaiting);
        found->second->changed.notify_all();
    }
}

Task<void> StoreServer::State::write(Connection& connection) {
    std::string out;
    for (;;) {
        if (connection.ended) co_return;
        if (connection.out.empty()) {
            co_await connection.changed.wait();
            continue;
        }
        out.clear();
        if (out.capacity() > kKept) out.shrink_to_fit();
        std::swap(out, connection.out);
        if (!co_await connection.stream->write(asio::buffer(out))) co_return;
        connection.changed.notify_all();
    }
}

StoreServer::StoreServer(const asio::any_io_executor& executor, Clock& clock, Admits admits)
    : state_(std::make_unique<State>(executor, clock, std::move(admits))) {}

StoreServer::~StoreServer() = default;

void StoreServer::serve(std::unique_ptr<net::Listener> listener) {
    state_->listeners.push_back(std::move(listener));
    state_->tasks.spawn(
        "store accept",
        net::accept_each(
            *state_->listeners.back(), state_->clock, "connections to the store",
            [this](std::unique_ptr<net::ByteStream> stream) { state_->come(std::move(stream)); }));
}

void StoreServer::begin_anew() {
    state_->keys.clear();
    for (const auto& [number, connection] : state_->connections) {
        connection->ended = true;
        connection->changed.notify_all();
    }
    state_->connections.clear();
}

Task<void> StoreServer::stop() {
    for (const auto& listener : state_->listeners) listener->close();
    co_await state_->tasks.stop();
    state_->listeners.clear();
}

std::size_t StoreServer::connections() const { return state_->connections.size(); }

}  // namespace muster::agent
