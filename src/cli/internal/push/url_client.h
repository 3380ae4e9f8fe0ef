#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/client_config/server_url.h"
#include "net/http/http_client.h"
#include "net/name_lookup.h"

namespace muster::cli {

/// Requests to a place that a user has named by its URL, each on a connection of its own. With https
/// its certificate must be trusted by this machine. Its name is looked up until it was found once.
/// Thread: the loop of its executor. stop() it before it is destroyed.
class UrlClient {
  public:
    UrlClient(asio::any_io_executor executor, Clock& clock, kube::ServerUrl url);

    /// The target of `request` comes behind the path of the URL. Errors as HttpClient::call(); one at
    /// a time.
    Task<Result<net::HttpResponse>> send(net::HttpRequest request, Duration time);
    Task<void> stop() { return names_.stop(); }

  private:
    Task<Result<std::unique_ptr<net::ByteStream>>> connect();

    asio::any_io_executor executor_;
    Clock& clock_;
    const kube::ServerUrl url_;
    net::NameLookup names_;
    std::unique_ptr<net::TlsClientContext> tls_;
    std::vector<std::string> addresses_;
};

}  // namespace muster::cli
