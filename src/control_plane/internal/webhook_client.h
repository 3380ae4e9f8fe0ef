#pragma once

#include <string>

#include "apiserver/webhook_caller.h"
#include "base/async/async.h"
#include "base/time/clock.h"
#include "control_plane/internal/endpoint_dial.h"
#include "control_plane/internal/webhook_exchange.h"
#include "net/http/http_client.h"
#include "net/tls/tls.h"

namespace muster::control_plane {

/// Calls webhooks as client-go does, with a connection for each request. An endpoint is an address
/// or a name of this machine's networks, or a pod. Thread: the loop. stop() it before it is
/// destroyed.
class WebhookClient final : public apiserver::WebhookCaller {
  public:
    WebhookClient(asio::any_io_executor executor, Clock& clock,
                  EndpointDial::ConnectToPod connect_to_pod)
        : executor_(std::move(executor)),
          clock_(clock),
          dial_(executor_, std::move(connect_to_pod)) {}

    Task<Result<std::string>> post(apiserver::WebhookEndpoint endpoint, std::string body,
                                   Duration time) override;
    Task<void> stop() { return dial_.stop(); }

  private:
    /// How the host of a place is reached: that of the endpoint at its pod or its other place.
    net::HttpConnector connector(const apiserver::WebhookEndpoint& endpoint, const HttpPlace& place,
                                 net::TlsClientContext& tls);

    asio::any_io_executor executor_;
    Clock& clock_;
    EndpointDial dial_;
};

}  // namespace muster::control_plane
