#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/transport/credentials.h"
#include "kube/transport/transport.h"
#include "net/http/http_client.h"

namespace muster::net {
class WebSocket;
}

namespace muster::kube {

struct HttpTransportOptions {
    /// Prepended to the path of every request, for a server that is not at the root: "/clusters/a".
    std::string path_prefix = {};
    std::string accept = "application/json";  ///< must be a form of JSON
    /// Limit for an answer, and for the first byte of a watch or a log.
    Duration time = std::chrono::seconds(60);
    /// How long a watch may exceed its timeoutSeconds, at which a server ends it, before the
    /// connection counts as broken. A watch without timeoutSeconds may last without limit.
    Duration overtime = std::chrono::seconds(30);
};

/// An API server over HTTP. Values are encoded as JSON and decoded again, so items are never apart.
/// A request that is answered with 401, and thus had no effect, is repeated once if the credentials
/// have changed by then. Refers to `client` and `credentials`, which outlive it and its streams.
/// Thread: the client's loop.
class HttpTransport final : public Transport {
  public:
    HttpTransport(net::HttpClient& client, Credentials& credentials, HttpTransportOptions options)
        : client_(client), credentials_(credentials), options_(std::move(options)) {}

    Task<Result<Response>> call(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override;
    Task<Result<std::unique_ptr<TextStream>>> stream_text(Request request) override;

    /// A GET of a path that is not an object's; the answer arrives within `time`.
    Task<Result<net::HttpResponse>> ask(std::string path, Duration time);

    /// A connection to a pod, such as its exec: a WebSocket with one of `protocols`. A refusal is
    /// an Error as for watch(), and kUnsupported if the server speaks none of them.
    Task<Result<std::unique_ptr<net::WebSocket>>> connect(Request request,
                                                          std::vector<std::string> protocols);

  private:
    net::HttpRequest encode(const Request& request) const;
    Task<Result<net::HttpResponse>> send(net::HttpRequest request, Duration time);
    Task<Result<std::unique_ptr<net::HttpBody>>> open(Request request, Duration body_time);

    net::HttpClient& client_;
    Credentials& credentials_;
    HttpTransportOptions options_;
};

/// "/api/v1/pods?labelSelector=a%3Db".
std::string request_target(const Request& request);

/// The texts of a Warning field: `299 - "one", 299 - "two"`.
std::vector<std::string> parse_warnings(std::string_view field);

/// The seconds of a Retry-After field; nothing for a date, which API servers do not send.
std::optional<Duration> parse_retry_after(std::string_view field);

}  // namespace muster::kube
