#pragma once

#include "apiserver/webhook_caller.h"
#include "base/async.h"
#include "base/clock.h"

namespace muster::cli {

/// Calls admission webhooks over TLS: a connection for each call. An endpoint is an address or
/// "localhost" of this machine's networks; services of the cluster are not reached. Thread: the
/// loop.
class WebhookClient final : public apiserver::WebhookCaller {
  public:
    WebhookClient(asio::any_io_executor executor, Clock& clock)
        : executor_(std::move(executor)), clock_(clock) {}

    Task<Result<std::string>> post(apiserver::WebhookEndpoint endpoint, std::string body,
                                   Duration time) override;

  private:
    asio::any_io_executor executor_;
    Clock& clock_;
};

}  // namespace muster::cli
