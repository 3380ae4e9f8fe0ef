#pragma once

#include <memory>
#include <optional>

#include "base/time/clock.h"
#include "kube/client_config/client_config.h"
#include "kube/client_config/proxy.h"
#include "kube/internal/client_config/server_credentials.h"
#include "kube/internal/client_config/server_tls.h"
#include "net/byte_stream.h"
#include "net/name_lookup.h"

namespace muster::kube {

/// Makes connections to a server, each with the names, files and proxies of that moment. Thread:
/// the loop of its executor. stop() it before it is destroyed.
class ServerConnector {
  public:
    ServerConnector(const ClientConfig& access, std::optional<Proxy> proxy,
                    ServerCredentials& credentials, ServerTls& tls, asio::any_io_executor executor,
                    Clock& clock);

    /// Works as an HttpConnector.
    Task<Result<std::unique_ptr<net::ByteStream>>> connect();
    Task<void> stop() { return names_.stop(); }

  private:
    using Stream = std::unique_ptr<net::ByteStream>;

    Task<Result<Stream>> reach(std::string host, std::uint16_t port);
    Task<Result<Stream>> reach_through_proxy();

    const ClientConfig access_;
    const std::optional<Proxy> proxy_;
    ServerCredentials& credentials_;
    ServerTls& tls_;
    asio::any_io_executor executor_;
    Clock& clock_;
    net::NameLookup names_;
};

/// How long to try one of the `addresses` that are left, with `left` for all of them: one that
/// drops all packets must not use up the time of the next. Pure.
Duration time_for_address(Duration left, std::size_t addresses);

}  // namespace muster::kube
