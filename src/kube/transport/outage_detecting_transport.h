#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/time/clock.h"
#include "kube/transport/transport.h"

namespace muster::kube {

/// Reports when a server that was away answers again, so that requests that failed meanwhile need
/// not wait for a long back-off. Away means: for a second or more, each answer was missing or was
/// 503.
///
/// Refers to the transport and the clock. `back` is called on the transport's loop, before that
/// answer is handed on.
class OutageDetectingTransport final : public Transport {
  public:
    OutageDetectingTransport(Transport& transport, Clock& clock, std::function<void()> back);

    Task<Result<Response>> call(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override;
    Task<Result<std::unique_ptr<TextStream>>> stream_text(Request request) override;

  private:
    void missed();
    void answered();

    Transport& transport_;
    Clock& clock_;
    std::function<void()> back_;
    std::optional<Instant> away_since_;
};

}  // namespace muster::kube
