#pragma once

#include "apiserver/watching/watch_cache.h"
#include "apiserver/webhook_caller.h"
#include "base/rng.h"

namespace muster::apiserver {

/// An endpoint with the place to connect to: of a service one of those to which it leads now.
/// kNotFound, kUnavailable with what is missing.
Result<WebhookEndpoint> with_place(const WatchCache& cache, Rng& rng, WebhookEndpoint endpoint);

/// Whether a service leads anywhere at that port.
bool has_places(const WatchCache& cache, const ServiceName& name, const json::object& service,
                std::uint16_t port);

/// Whether there are EndpointSlices or Endpoints of a service.
bool has_endpoints(const WatchCache& cache, const ServiceName& service);

}  // namespace muster::apiserver
