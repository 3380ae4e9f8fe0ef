#pragma once

#include "apiserver/internal/server_state.h"
#include "apiserver/webhook_caller.h"

namespace muster::apiserver {

// Where a service leads to now. To find that out, all pods of its namespace are looked at, or all of
// its EndpointSlices, in turns of the loop.

/// An endpoint with the place to connect to: of a service one of those to which it leads.
/// kNotFound, kUnavailable with what is missing. `state` outlives the call.
Task<Result<WebhookEndpoint>> with_place(ServerState& state, WebhookEndpoint endpoint);

enum class ServicePlaces {
    kSome,
    kNoAddresses,  ///< what it has is not ready, or has no such port
    kNoEndpoints,  ///< it selects no pods, and nothing else stands behind it
};
/// Whether a service leads anywhere at a port. `cache` outlives the call.
Task<ServicePlaces> places_of(const WatchCache& cache, ServiceName name, kube::ObjectPtr service,
                              std::uint16_t port);

}  // namespace muster::apiserver
