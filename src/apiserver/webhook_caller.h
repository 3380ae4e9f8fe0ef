#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"

namespace muster::apiserver {

/// A service of the cluster.
struct ServiceName {
    std::string namespace_;
    std::string name;

    friend bool operator==(const ServiceName&, const ServiceName&) = default;
};

/// A port of a running pod.
struct PodPort {
    std::string namespace_;
    std::string pod;
    std::uint16_t number = 0;

    friend bool operator==(const PodPort&, const PodPort&) = default;
};

/// Where a webhook listens, always with TLS.
struct WebhookEndpoint {
    std::string host;  ///< an address or a name; for a service NAME.NAMESPACE.svc
    std::uint16_t port = 443;
    std::string path = "/";                   ///< with the query
    std::string ca_pem;                       ///< the CA to trust; empty: the machine's
    std::optional<ServiceName> service = {};  ///< the service that `host` names
    std::optional<PodPort> pod = {};          ///< of a service: the pod to connect to

    friend bool operator==(const WebhookEndpoint&, const WebhookEndpoint&) = default;
};

/// How the API reaches admission webhooks. The composition root connects it to the network.
class WebhookCaller {
  public:
    virtual ~WebhookCaller() = default;

    /// Posts a JSON body and returns the body of a 200 answer. kTimeout after `time`; any other
    /// failure says, for people, what went wrong.
    virtual Task<Result<std::string>> post(WebhookEndpoint endpoint, std::string body,
                                           Duration time) = 0;
};

}  // namespace muster::apiserver
