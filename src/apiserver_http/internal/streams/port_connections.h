#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "net/byte_stream.h"

namespace muster::apiserver_http {

/// Sends the data of a pod's ports to the client. Several coroutines call it; it serialises them.
/// Data that can't be sent any more are dropped: the reader of the client notices its end.
class PortClient {
  public:
    virtual ~PortClient() = default;

    virtual Task<void> data(std::uint32_t connection, std::string bytes) = 0;
    /// The connection has ended; `problem` says why, and is empty if it ended well. Nothing
    /// follows.
    virtual Task<void> end(std::uint32_t connection, std::string problem) = 0;
};

/// The connections of one client to the ports of one pod. Their tasks run in a group of the caller,
/// which ends before this object. Thread: the loop.
class PortConnections {
  public:
    using Connect = std::function<Task<Result<std::unique_ptr<net::ByteStream>>>(std::uint16_t)>;

    PortConnections(TaskGroup& tasks, Connect connect, PortClient& client)
        : tasks_(tasks), connect_(std::move(connect)), client_(client) {}

    /// Limit of connections of one client; callers refuse more.
    static constexpr std::size_t kMost = 512;

    void open(std::uint32_t id, std::uint16_t port);
    /// Passes data to the pod. Waits while much data was not taken yet; other connections of the
    /// client then wait too, as its data arrive in one sequence. Unknown ids belong to connections
    /// that have ended.
    Task<void> take(std::uint32_t id, std::string bytes);
    /// The client sends no more on this connection.
    void end_input(std::uint32_t id);
    /// The client does not want any more of it.
    void drop(std::uint32_t id);

    std::size_t size() const { return connections_.size(); }
    /// Returns when there is none.
    Task<void> all_ended();

  private:
    struct Connection;
    using ConnectionPtr = std::shared_ptr<Connection>;

    Task<void> run(ConnectionPtr connection);
    Task<void> carry_output(ConnectionPtr connection);
    static Task<void> carry_input(ConnectionPtr connection);
    void finished(std::uint32_t id);
    /// After a fault of the task that carries it.
    void failed(const ConnectionPtr& connection, const std::string& why);
    Task<void> tell_end(ConnectionPtr connection, std::string why);

    TaskGroup& tasks_;
    Connect connect_;
    PortClient& client_;
    std::map<std::uint32_t, ConnectionPtr> connections_;
    Signal ended_{tasks_.executor()};
};

}  // namespace muster::apiserver_http
