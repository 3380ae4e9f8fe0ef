#pragma once

#include <functional>
#include <memory>

#include "apiserver/webhook_caller.h"
#include "base/async/async.h"
#include "base/time/clock.h"
#include "net/byte_stream.h"

namespace muster::control_plane {

/// Calls admission webhooks over TLS, with a connection for each call. An endpoint is an address or
/// "localhost" of this machine's networks, or a pod. Thread: the loop.
class WebhookClient final : public apiserver::WebhookCaller {
  public:
    using ConnectToPod =
        std::function<Task<Result<std::unique_ptr<net::ByteStream>>>(apiserver::PodPort)>;

    WebhookClient(asio::any_io_executor executor, Clock& clock, ConnectToPod connect_to_pod)
        : executor_(std::move(executor)),
          clock_(clock),
          connect_to_pod_(std::move(connect_to_pod)) {}

    Task<Result<std::string>> post(apiserver::WebhookEndpoint endpoint, std::string body,
                                   Duration time) override;

  private:
    asio::any_io_executor executor_;
    Clock& clock_;
    ConnectToPod connect_to_pod_;
};

}  // namespace muster::control_plane
