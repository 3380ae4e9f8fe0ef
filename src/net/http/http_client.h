#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "net/http/http.h"
#include "net/tls/tls.h"

namespace muster::net {

/// Makes a connection to the one server that a client talks to.
using HttpConnector = std::function<Task<Result<std::unique_ptr<ByteStream>>>()>;

/// TCP to an address (as connect_tcp() takes it), with TLS if `tls` is given, which then outlives
/// the client; the server's certificate must name `address`.
HttpConnector tcp_connector(asio::any_io_executor executor, std::string address, std::uint16_t port,
                            TlsClientContext* tls = nullptr);

struct HttpClientOptions {
    std::string host = "localhost";  ///< of the Host field, unless a request has one
    std::size_t idle_connections = 25;
    Duration idle_time = std::chrono::seconds(90);
    Duration connect_time = std::chrono::seconds(30);
    std::size_t head_bytes = std::size_t{64} * 1024;
    std::size_t body_bytes = std::size_t{256} * 1024 * 1024;  ///< of a body that is not streamed
};

/// A body that arrives piece by piece. The client outlives it; destroying it before its end closes
/// the connection.
class HttpBody {
  public:
    virtual ~HttpBody() = default;
    /// Status and header fields; its body is empty.
    virtual const HttpResponse& head() const = 0;
    /// The next piece, never empty; nullopt at the end. kTimeout when the connection broke before
    /// the end. One caller at a time; cancelling it leaves the body usable.
    virtual Task<Result<std::optional<std::string>>> read() = 0;
    /// See ByteStream.
    virtual bool gather() = 0;
};

struct HttpUpgrade {
    HttpResponse response;               ///< with its body if it is not a 101
    std::unique_ptr<ByteStream> stream;  ///< null if it is not a 101
};

/// HTTP/1.1 requests to one server over connections that are kept alive. The number of connections
/// in use is not limited; a call that finds none idle makes one.
///
/// An answer with any status is a value. Errors: kBadRequest for a request that can't be sent,
/// kUnavailable if the request certainly had no effect, kTimeout if it may have had one, kCancelled
/// after stop(). A kept connection that turns out to be closed is silently replaced by a new one if
/// nothing was sent on it, or if repeating the request changes nothing (GET, HEAD, PUT, DELETE,
/// OPTIONS).
///
/// Thread: the loop of its executor. stop() it before it is destroyed.
class HttpClient {
  public:
    HttpClient(asio::any_io_executor executor, Clock& clock, HttpConnector connect,
               HttpClientOptions options = {});
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    /// The whole answer within `time`.
    Task<Result<HttpResponse>> call(HttpRequest request, Duration time);
    /// The head of the answer within `time`, and the whole body within `body_time` of it: after
    /// that the connection is closed, and read() returns kTimeout.
    Task<Result<std::unique_ptr<HttpBody>>> stream(HttpRequest request, Duration time,
                                                   Duration body_time = Duration::max());
    /// `request` must have its Connection and Upgrade fields.
    Task<Result<HttpUpgrade>> upgrade(HttpRequest request, Duration time);

    /// Lets no new request use the present connections, for example after the credentials changed:
    /// idle connections are closed now, those in use when their answer is complete.
    void retire_connections();

    /// Closes all connections and returns when no task of the client is left. Calls end with
    /// kCancelled; bodies and calls must end before the client is destroyed.
    Task<void> stop();

    std::size_t idle_connections() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::net
