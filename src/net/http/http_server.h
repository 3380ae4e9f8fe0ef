#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "net/http/http.h"
#include "net/tls/tls.h"

namespace muster::net {

class HttpConnection;

/// What a server takes from clients; beyond it is an answer and the end of the connection.
struct HttpServerLimits {
    std::size_t head_bytes = std::size_t{64} * 1024;        ///< 431
    std::size_t body_bytes = std::size_t{3} * 1024 * 1024;  ///< 413
    std::size_t connections = 10'000;                       ///< 503
    /// From the connection, or the first byte of a later request, to the end of its head, TLS
    /// handshake included: 408, or the end if no byte of a head came.
    Duration head_time = std::chrono::seconds(15);
    Duration body_time = std::chrono::seconds(60);   ///< for the whole body: 408
    Duration idle_time = std::chrono::seconds(180);  ///< between two requests
    /// Without progress in sending to a client that does not read.
    Duration write_time = std::chrono::seconds(30);
    /// What stop() leaves to the answers that are being made.
    Duration stop_time = std::chrono::seconds(5);
};

/// One request and its one answer. Lives as long as its handler's call.
class HttpExchange {
  public:
    explicit HttpExchange(HttpConnection& connection) : connection_(connection) {}
    HttpExchange(const HttpExchange&) = delete;
    HttpExchange& operator=(const HttpExchange&) = delete;

    HttpRequest& request();

    /// The whole answer; it is sent when the handler returns. The server adds Content-Length and
    /// Date. A later one replaces it; not after begin() or upgrade(). A shared body is sent without
    /// a copy.
    void respond(unsigned status, HttpHeaders headers, std::string body);
    void respond(unsigned status, HttpHeaders headers, std::shared_ptr<const std::string> body);

    /// Begins an answer of unknown length, flushed at once. From here on the handler is cancelled
    /// when the client goes away. Errors here and below are kUnavailable: the client is gone, and
    /// the handler had better return.
    Task<Result<void>> begin(unsigned status, HttpHeaders headers);
    /// Sends a piece, flushed at once. `piece` stays until this returns.
    Task<Result<void>> write(std::string_view piece);
    /// The clean end. A handler that returns without it cuts the connection, so that the client
    /// knows that something is missing; one that is cancelled by stop() between two pieces is
    /// ended cleanly.
    Task<Result<void>> end();

    /// Answers 101 with `headers` (Connection and Upgrade among them) and hands over the
    /// connection, with what the client sent already. It may outlive the handler.
    Task<Result<std::unique_ptr<ByteStream>>> upgrade(HttpHeaders headers);

    /// Whether respond(), begin() or upgrade() was called.
    bool answered() const;
    /// Of the answer, once there is one.
    unsigned status() const;

  private:
    HttpConnection& connection_;
};

/// An HTTP/1.1 server: keep-alive, pipelining in order, chunked bodies, Expect, HEAD, HTTP/1.0.
/// Whatever could be read as two different messages is refused with 400 and ends the connection.
///
/// Owns its listeners and connections. stop() it before it is destroyed.
/// Thread: the loop of its executor.
class HttpServer {
  public:
    /// Runs for each request. One that returns without an answer is a 500. It is cancelled when
    /// the client goes away while it streams, and when stop() runs out of patience; what it throws
    /// otherwise ends the program, as in every task.
    using Handler = std::function<Task<void>(HttpExchange&)>;

    HttpServer(asio::any_io_executor executor, Clock& clock, HttpServerLimits limits,
               Handler handler);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// Accepts from now on; any number of listeners. `tls` outlives the server.
    void serve(std::unique_ptr<Listener> listener, TlsServerContext* tls = nullptr);

    /// Accepts no more, ends idle connections and streams, lets answers be finished within
    /// `stop_time`, cancels the rest, and returns when none is left: at most two seconds later,
    /// which clients have to take their last answer. Must not be cancelled.
    Task<void> stop();

    std::size_t connections() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::net
