#include "apiserver_http/internal/streams/port_connections.h"

#include <deque>
#include <vector>

#include "base/check.h"

namespace muster::apiserver_http {

namespace {

constexpr std::size_t kPiece = std::size_t{32} * 1024;
/// How much may wait for a pod that does not read.
constexpr std::size_t kMostWaiting = std::size_t{256} * 1024;

}  // namespace

struct PortConnections::Connection {
    Connection(const asio::any_io_executor& executor, std::uint32_t id_, std::uint16_t port_)
        : id(id_), port(port_), changed(executor) {}

    const std::uint32_t id;
    const std::uint16_t port;
    std::unique_ptr<net::ByteStream> pod;
    std::deque<std::string> input;
    std::size_t waiting = 0;  // bytes in `input`
    bool input_ended = false;
    std::string fault;  ///< of the task that carries the input
    bool dropped = false;
    bool over = false;
    Signal changed;
};

void PortConnections::open(std::uint32_t id, std::uint16_t port) {
    auto connection = std::make_shared<Connection>(tasks_.executor(), id, port);
    CHECK(connections_.emplace(id, connection).second, "a connection was opened twice");
    tasks_.spawn("forwarded port", run(connection),
                 [this, connection](const std::string& why) { failed(connection, why); });
}

Task<void> PortConnections::take(std::uint32_t id, std::string bytes) {
    const auto found = connections_.find(id);
    if (found == connections_.end() || bytes.empty()) co_return;
    const ConnectionPtr connection = found->second;
    while (connection->waiting >= kMostWaiting && !connection->over && !connection->dropped)
        co_await connection->changed.wait();
    if (connection->over || connection->dropped || connection->input_ended) co_return;
    connection->waiting += bytes.size();
    connection->input.push_back(std::move(bytes));
    connection->changed.notify_all();
}

void PortConnections::end_input(std::uint32_t id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    found->second->input_ended = true;
    found->second->changed.notify_all();
}

void PortConnections::drop(std::uint32_t id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    Connection& connection = *found->second;
    connection.dropped = true;
    // Ends its tasks where they wait for the pod; where they wait for the client they continue, so
    // that nothing is sent in part.
    if (connection.pod) connection.pod->close();
    connection.changed.notify_all();
}

void PortConnections::finished(std::uint32_t id) {
    connections_.erase(id);
    ended_.notify_all();
}

void PortConnections::failed(const ConnectionPtr& connection, const std::string& why) {
    connection->over = true;
    if (connection->pod) connection->pod->close();
    connection->changed.notify_all();
    if (connection->dropped) return finished(connection->id);
    tasks_.spawn("end of a forwarded port", tell_end(connection, why),
                 [this, id = connection->id](const std::string&) { finished(id); });
}

Task<void> PortConnections::tell_end(ConnectionPtr connection, std::string why) {
    co_await client_.end(connection->id, std::move(why));
    finished(connection->id);
}

Task<void> PortConnections::all_ended() {
    while (!connections_.empty()) co_await ended_.wait();
}

Task<void> PortConnections::run(ConnectionPtr connection) {
    auto pod = co_await connect_(connection->port);
    if (pod && !connection->dropped) {
        connection->pod = *std::move(pod);
        tasks_.spawn("input of a forwarded port", carry_input(connection),
                     [connection](const std::string& why) {
                         connection->fault = why;
                         connection->over = true;
                         connection->pod->close();  // which ends the output
                         connection->changed.notify_all();
                     });
        co_return co_await carry_output(std::move(connection));
    }
    connection->over = true;
    connection->changed.notify_all();
    if (!connection->dropped) co_await client_.end(connection->id, pod.error().message());
    finished(connection->id);
}

/// When it ends, so does the connection.
Task<void> PortConnections::carry_output(ConnectionPtr connection) {
    std::vector<char> buffer(kPiece);
    std::string problem;
    for (;;) {
        auto size = co_await connection->pod->read_some(asio::buffer(buffer));
        if (connection->dropped) break;
        if (!size) problem = size.error().message();
        if (!size || *size == 0) break;
        co_await client_.data(connection->id, std::string(buffer.data(), *size));
        if (connection->dropped) break;
    }
    if (!connection->fault.empty()) problem = connection->fault;
    connection->over = true;
    connection->pod->close();
    connection->changed.notify_all();
    if (!connection->dropped) co_await client_.end(connection->id, std::move(problem));
    finished(connection->id);
}

Task<void> PortConnections::carry_input(ConnectionPtr connection) {
    while (!connection->over && !connection->dropped) {
        if (!connection->input.empty()) {
            const std::string bytes = std::move(connection->input.front());
            connection->input.pop_front();
            const Result<void> written = co_await connection->pod->write(asio::buffer(bytes));
            connection->waiting -= bytes.size();
            if (!written) {
                // The pod does not read any more; its output still comes by the other way.
                connection->input_ended = true;
                connection->input.clear();
                connection->waiting = 0;
            }
            connection->changed.notify_all();
            if (!written) co_return;
        } else if (connection->input_ended) {
            std::ignore = co_await connection->pod->shut_down_write();
            co_return;
        } else {
            co_await connection->changed.wait();
        }
    }
}

}  // namespace muster::apiserver_http
