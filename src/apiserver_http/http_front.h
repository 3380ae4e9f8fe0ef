#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/api_server.h"
#include "apiserver/authentication/access_options.h"
#include "apiserver_http/audit.h"
#include "apiserver_http/request_limits.h"
#include "apiserver_http/yaml_text.h"
#include "base/async/side_thread.h"
#include "net/http/http_server.h"

namespace prometheus {
class Collectable;
}

namespace muster::apiserver_http {

struct FrontOptions {
    RequestLimits limits = {};
    AuditOptions audit = {};
    YamlText yaml = {};
    /// For large bodies and answers, which would hold the loop; it outlives the front. Null: the
    /// loop does everything.
    SideThread* side_thread = nullptr;
    /// Further metrics for /metrics: those of the process and the sockets.
    std::vector<std::shared_ptr<prometheus::Collectable>> metrics = {};
};

/// What HTTP clients see of an ApiServer: authentication, media types, Tables, watch streams, and
/// the documents that describe the server. Refers to the server, which outlives it. Thread: the
/// server's loop.
class HttpFront {
  public:
    HttpFront(apiserver::ApiServer& server, apiserver::AccessOptions access,
              FrontOptions options = {});
    ~HttpFront();

    /// Answers one request. A watch or a followed log is served until it ends or the client
    /// disconnects, when the task is cancelled.
    Task<void> serve(net::HttpExchange& exchange);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// What a server in front of it answers to a body of more than `limit` bytes: a Status, as JSON.
std::string body_too_large(std::size_t limit);

}  // namespace muster::apiserver_http
