#pragma once

#include <functional>
#include <memory>

#include "apiserver/webhook_caller.h"
#include "base/async/async.h"
#include "base/time/clock.h"
#include "control_plane/internal/webhook_exchange.h"
#include "net/byte_stream.h"
#include "net/http/http_client.h"
#include "net/name_lookup.h"
#include "net/tls/tls.h"

namespace muster::control_plane {

/// Calls webhooks as client-go does, with a connection for each request. An endpoint is an address
/// or a name of this machine's networks, or a pod. Thread: the loop. stop() it before it is
/// destroyed.
class WebhookClient final : public apiserver::WebhookCaller {
  public:
    using ConnectToPod =
        std::function<Task<Result<std::unique_ptr<net::ByteStream>>>(apiserver::PodPort)>;

    WebhookClient(asio::any_io_executor executor, Clock& clock, ConnectToPod connect_to_pod)
        : executor_(std::move(executor)),
          clock_(clock),
          connect_to_pod_(std::move(connect_to_pod)),
          names_(executor_) {}

    Task<Result<std::string>> post(apiserver::WebhookEndpoint endpoint, std::string body,
                                   Duration time) override;
    Task<void> stop() { return names_.stop(); }

  private:
    /// How the host of a place is reached: that of the endpoint at its pod or its other place.
    net::HttpConnector connector(const apiserver::WebhookEndpoint& endpoint, const HttpPlace& place,
                                 net::TlsClientContext& tls);

    asio::any_io_executor executor_;
    Clock& clock_;
    ConnectToPod connect_to_pod_;
    net::NameLookup names_;
};

}  // namespace muster::control_plane
