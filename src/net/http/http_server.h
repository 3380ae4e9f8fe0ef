#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "net/http/byte_budget.h"
#include "net/http/http.h"
#include "net/tls/tls.h"

namespace muster::net {

class HttpConnection;

/// What a server accepts from clients. Beyond a limit it answers with the status below and ends the
/// connection.
struct HttpServerLimits {
    std::size_t head_bytes = std::size_t{64} * 1024;        ///< 431
    std::size_t body_bytes = std::size_t{3} * 1024 * 1024;  ///< 413; 0: no bodies at all
    std::string body_too_large = {};  ///< the answer then, as JSON; empty: the reason as text
    /// What all connections together may have in memory at a time, those of other servers that
    /// share it included: 429. Null: no limit.
    std::shared_ptr<ByteBudget> budget = nullptr;
    std::size_t connections = 10'000;  ///< 503
    /// How many of those may be strangers: connections whose client the handler has not identified
    /// (HttpExchange::know_client). The one that has been silent for longest makes room for the next
    /// stranger, and also when there is no room for another connection at all. Unset: no one is a
    /// stranger.
    std::optional<std::size_t> strangers = {};
    /// What the large requests of strangers (more than some KiB) may take together, complete or
    /// not. The one whose request has not grown for longest makes room for the others.
    std::size_t input_of_strangers = std::size_t{32} * 1024 * 1024;
    /// From the connection, or from the first byte of a later request, to the end of its head, TLS
    /// handshake included: 408, or just the end if no byte of a head came.
    Duration head_time = std::chrono::seconds(15);
    Duration body_time = std::chrono::seconds(60);   ///< for the whole body: 408
    Duration idle_time = std::chrono::seconds(180);  ///< between two requests
    Duration idle_time_of_strangers = std::chrono::seconds(10);
    /// Without progress in sending to a client that does not read.
    Duration write_time = std::chrono::seconds(30);
    /// What stop() leaves to answers in progress.
    Duration stop_time = std::chrono::seconds(5);
};

/// One request and its one answer. Valid during its handler's call.
class HttpExchange {
  public:
    explicit HttpExchange(HttpConnection& connection) : connection_(connection) {}
    HttpExchange(const HttpExchange&) = delete;
    HttpExchange& operator=(const HttpExchange&) = delete;

    /// Before read_body() it has only as much of the body as came with the head.
    HttpRequest& request();

    /// The client has been identified: its connection is no longer a stranger.
    void know_client();
    /// This request is served even if the budget is exhausted.
    void exempt_from_budget();
    /// Takes memory from the budget for the request, of which small ones need none. False: there is
    /// none, and it should be refused.
    bool hold_request();
    /// Takes memory from the budget for an answer, or a piece of one, of about this size, which is
    /// made next; each call replaces the one before. False: there is none, and the answer should be
    /// refused; never for a write, which has been carried out. Given back after the answer. An answer
    /// for which this was not called is counted when the handler has returned.
    bool hold_answer(std::size_t bytes);

    /// Whether there is more of the body than came with the head.
    bool has_more_body() const;
    /// Reads the rest of the body; only now a client that waits for "100 Continue" gets it, so that
    /// its identity and rights can be checked before. After an error the answer with the reason is
    /// made (400, 413, 429), and the handler should return. If a handler answers without having read
    /// the body, the connection ends.
    Task<Result<void>> read_body();

    /// The whole answer; it is sent when the handler returns. The server adds Content-Length and
    /// Date. A later call replaces it; not after begin() or upgrade(). A shared body is sent
    /// without a copy.
    void respond(unsigned status, HttpHeaders headers, std::string body);
    void respond(unsigned status, HttpHeaders headers, std::shared_ptr<const std::string> body);

    /// Begins an answer of unknown length, flushed immediately. From then on the handler is
    /// cancelled if the client disconnects. Errors here and below are kUnavailable: the client is
    /// gone, and the handler should return.
    Task<Result<void>> begin(unsigned status, HttpHeaders headers);
    /// Sends a piece, flushed immediately. `piece` stays valid until this returns.
    Task<Result<void>> write(std::string_view piece);
    /// The clean end. A handler that returns without it cuts the connection, so that the client
    /// notices that something is missing; one that stop() cancels between two pieces is ended
    /// cleanly.
    Task<Result<void>> end();

    /// Answers 101 with `headers` (Connection and Upgrade among them) and hands over the
    /// connection, with what the client sent already. The connection may outlive the handler.
    Task<Result<std::unique_ptr<ByteStream>>> upgrade(HttpHeaders headers);

    /// Whether respond(), begin() or upgrade() was called.
    bool answered() const;
    /// Whether respond() can still be called.
    bool may_respond() const;
    /// Status of the answer, once there is one.
    unsigned status() const;

  private:
    HttpConnection& connection_;
};

/// Reads the body first and then calls `handler`: for servers whose clients may all send bodies.
std::function<Task<void>(HttpExchange&)> with_body(
    std::function<Task<void>(HttpExchange&)> handler);

/// An HTTP/1.1 server: keep-alive, pipelining in order, chunked bodies, Expect, HEAD, HTTP/1.0. A
/// message that could be read in two ways is refused with 400, and its connection ends.
///
/// Owns its listeners and connections. stop() it before it is destroyed. Thread: the loop of its
/// executor.
class HttpServer {
  public:
    /// Runs for each request, once its head is there. If it returns without an answer, the answer is
    /// 500. So it is if it throws: the text then has the id under which the log has the exception,
    /// and an answer that was begun is cut off. It is cancelled if the client disconnects while it
    /// streams, and when stop_time is over.
    using Handler = std::function<Task<void>(HttpExchange&)>;

    HttpServer(asio::any_io_executor executor, Clock& clock, HttpServerLimits limits,
               Handler handler);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// Accepts connections from now on; there may be any number of listeners. `tls` outlives the
    /// server.
    void serve(std::unique_ptr<Listener> listener, TlsServerContext* tls = nullptr);

    /// Accepts no more connections, ends idle ones and streams, lets answers finish within
    /// `stop_time`, cancels the rest, and returns when none is left. That takes at most two seconds
    /// more, in which clients have to take their last answer. Must not be cancelled.
    Task<void> stop();

    std::size_t connections() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::net
