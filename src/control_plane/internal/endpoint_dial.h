#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/webhook_caller.h"
#include "base/async/async.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "net/http/http_client.h"
#include "net/name_lookup.h"
#include "net/tls/tls.h"

namespace muster::control_plane {

/// Makes connections to what webhooks and servers behind APIServices are at: a pod, an address or a
/// name of this machine's networks. Thread: the loop. stop() it before it is destroyed, when no
/// connection is being made any more.
class EndpointDial {
  public:
    using ConnectToPod =
        std::function<Task<Result<std::unique_ptr<net::ByteStream>>>(apiserver::PodPort)>;

    EndpointDial(const asio::any_io_executor& executor, ConnectToPod connect_to_pod)
        : executor_(executor), connect_to_pod_(std::move(connect_to_pod)), names_(executor) {}

    /// Connects to the pod, or else to the first address of `to` that takes a connection. With
    /// `tls`, which outlives the connections, the server there has to be `server_name`.
    net::HttpConnector connector(std::optional<apiserver::PodPort> pod, apiserver::NetworkPort to,
                                 std::string server_name, net::TlsClientContext* tls);
    Task<void> stop() { return names_.stop(); }

  private:
    using Stream = Result<std::unique_ptr<net::ByteStream>>;

    Task<Stream> connect(std::optional<apiserver::PodPort> pod, apiserver::NetworkPort to,
                         std::string server_name, net::TlsClientContext* tls);
    Task<Stream> connect_to_network(apiserver::NetworkPort to);

    asio::any_io_executor executor_;
    ConnectToPod connect_to_pod_;
    net::NameLookup names_;
};

}  // namespace muster::control_plane
