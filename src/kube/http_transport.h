#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "kube/transport.h"
#include "net/http_client.h"

namespace muster::kube {

struct HttpTransportOptions {
    std::string token;  ///< of the Authorization field; empty: none
    /// Before the path of every request, for a server that is not at the root: "/clusters/a".
    std::string path_prefix = {};
    std::string accept = "application/json";  ///< must be a form of JSON
    /// For an answer; of a watch or a log for its first byte.
    Duration time = std::chrono::seconds(60);
};

/// An API server behind HTTP. Values become JSON on the way there and again on the way back, so
/// items never come apart. Refers to `client`, which outlives it and its streams. Thread: the
/// client's loop.
class HttpTransport final : public Transport {
  public:
    HttpTransport(net::HttpClient& client, HttpTransportOptions options)
        : client_(client), options_(std::move(options)) {}

    Task<Result<Response>> call(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override;
    Task<Result<std::unique_ptr<TextStream>>> stream_text(Request request) override;

  private:
    net::HttpRequest encode(const Request& request) const;
    Task<Result<std::unique_ptr<net::HttpBody>>> open(Request request);

    net::HttpClient& client_;
    HttpTransportOptions options_;
};

/// "/api/v1/pods?labelSelector=a%3Db".
std::string request_target(const Request& request);

/// The texts of a Warning field: `299 - "one", 299 - "two"`.
std::vector<std::string> parse_warnings(std::string_view field);

}  // namespace muster::kube
