#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/byte_stream.h"
#include "net/http/http.h"
#include "net/http/http_client.h"
#include "net/http/http_server.h"

namespace muster::net {

struct WebSocketOptions {
    /// Limit of an incoming message, however many frames it has; a larger one ends the connection.
    std::size_t message_bytes = std::size_t{4} * 1024 * 1024;
};

struct WebSocketMessage {
    bool text = false;  ///< then it is UTF-8
    std::string bytes;
};

/// How the other side closed the connection.
struct WebSocketClose {
    std::uint16_t code = 1000;  ///< 1005 when it gave none
    std::string reason;
};

/// Messages in both directions (RFC 6455) over a stream that was upgraded. Owns the stream;
/// destroying it closes it.
///
/// One reader and one writer at a time, which may be two coroutines; the reader answers pings.
/// Cancelling a reader loses nothing; after a cancelled write nothing can be written. Thread: the
/// loop of the stream.
class WebSocket {
  public:
    virtual ~WebSocket() = default;

    /// The next message; nullopt after the other side's close frame, which is answered. kBadRequest
    /// if the other side broke the protocol, which it is told; kUnavailable if the connection ended
    /// without a close frame.
    virtual Task<Result<std::optional<WebSocketMessage>>> read() = 0;
    /// Sends one message in one frame. `bytes` stays valid until it returns. Text must be UTF-8.
    virtual Task<Result<void>> write(bool text, std::string_view bytes) = 0;
    /// At most 125 bytes. The reader drops the answer, which keeps the connection alive.
    virtual Task<Result<void>> ping(std::string bytes) = 0;
    /// Returns when the other side has answered a ping or sent a message, at once if it has before.
    /// Only while someone reads.
    virtual Task<void> heard() = 0;
    /// Sends a close frame, once; nothing may be written afterwards. The other side's close frame
    /// arrives through read().
    virtual Task<Result<void>> close(std::uint16_t code, std::string reason) = 0;

    /// The sub-protocol that was agreed on, or "".
    virtual const std::string& protocol() const = 0;
    virtual const std::optional<WebSocketClose>& closed() const = 0;
};

/// What a server answers to a request for a WebSocket: the fields of its 101.
struct WebSocketAcceptance {
    HttpHeaders headers;
    std::string protocol;
};

/// Whether `request` asks for a WebSocket, correctly or not.
bool asks_for_web_socket(const HttpRequest& request);
/// Checks a request. The sub-protocol is the first of the client's that is among `protocols`; a
/// client that offers only others is refused, one that offers none gets none. kBadRequest if it is
/// not a valid request for a WebSocket, kUnsupported for another version.
Result<WebSocketAcceptance> judge_web_socket(const HttpRequest& request,
                                             const std::vector<std::string>& protocols);

/// Answers a request for a WebSocket: with 101, or with 400 or 426 and an error.
Task<Result<std::unique_ptr<WebSocket>>> accept_web_socket(HttpExchange& exchange,
                                                           std::vector<std::string> protocols,
                                                           WebSocketOptions options);

/// The answer to a request for a WebSocket: one of the two.
struct WebSocketAnswer {
    std::unique_ptr<WebSocket> socket;
    HttpResponse refusal;  ///< with its body, if there is no socket
};

/// Requests one with `request` (the caller sets its target and fields), offering `protocols`.
/// kBadRequest if the answer is not that of a WebSocket; other errors are those of HttpClient.
Task<Result<WebSocketAnswer>> ask_for_web_socket(HttpClient& client, HttpRequest request,
                                                 std::vector<std::string> protocols, Duration time,
                                                 WebSocketOptions options);

/// Requests one with `request` (the caller sets its target and fields), offering `protocols`. An
/// answer other than 101 is an error with its status and text: kUnauthorized, kForbidden, kNotFound
/// or kBadRequest; other errors are those of HttpClient.
Task<Result<std::unique_ptr<WebSocket>>> connect_web_socket(HttpClient& client, HttpRequest request,
                                                            std::vector<std::string> protocols,
                                                            Duration time,
                                                            WebSocketOptions options);

}  // namespace muster::net
