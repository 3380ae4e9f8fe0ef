#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "net/http/http.h"
#include "net/internal/http/http_parser.h"

namespace muster::net {

/// A request as bytes; kBadRequest if it would not arrive as it is meant.
Result<std::string> request_head(const HttpRequest& request, std::string_view host);

/// The client's end of a connection: sends requests and receives their answers, one after the
/// other.
class ClientConnection {
  public:
    ClientConnection(const asio::any_io_executor& executor, std::unique_ptr<ByteStream> stream,
                     HttpMessageLimits limits);

    /// What is known of an exchange that failed.
    struct Progress {
        bool sent = false;      // a byte of the request may have left
        bool received = false;  // a byte of the answer came
    };

    /// Sends a request and receives the head of its answer into response(). `progress` and
    /// `request` stay until it returns.
    Task<Result<void>> exchange(const std::string& head, const HttpRequest& request,
                                Progress& progress);
    HttpResponse& response() { return response_; }
    /// Receives more of the body into response(); false at its end. May be cancelled and called
    /// again.
    Task<Result<bool>> receive_body();

    /// Between two calls of receive_body(): see HttpBody.
    bool gather();

    /// Whether another request may follow: the answer is complete, and neither side asked to close.
    bool reusable() const;
    /// Reads while no request is in progress, to notice the server's end; any input counts as one.
    Task<void> watch_idle();
    TaskGroup& watch() { return watch_; }
    bool ended() const { return ended_; }
    /// While no request is in progress: whether the server has sent something all the same, or
    /// ended the connection.
    bool has_input() const { return ended_ || stream_->has_input(); }

    // Set while the connection is kept for another request.
    Instant kept_at{};
    bool is_watched = false;  ///< watch() notices the server's end

    void close() {
        ended_ = true;
        stream_->close();
    }
    /// After a 101: the connection, with the bytes that followed the head.
    std::unique_ptr<ByteStream> take_stream();

  private:
    Task<Result<bool>> receive();
    Result<void> parse();

    std::unique_ptr<ByteStream> stream_;
    TaskGroup watch_;
    HttpResponseParser parser_;
    HttpResponse response_;
    std::string received_;  // not parsed yet
    std::vector<char> buffer_;
    bool ended_ = false;
};

}  // namespace muster::net
