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

/// A port of a pod that runs.
struct PodPort {
    std::string namespace_;
    std::string pod;
    std::uint16_t number = 0;

    friend bool operator==(const PodPort&, const PodPort&) = default;
};

/// Where a webhook listens, always with TLS.
struct WebhookEndpoint {
    std::string host;  ///< an address or a name; of a service NAME.NAMESPACE.svc
    std::uint16_t port = 443;
    std::string path = "/";                   ///< with the query
    std::string ca_pem;                       ///< whom to trust; empty: whom this machine trusts
    std::optional<ServiceName> service = {};  ///< whose name `host` is
    std::optional<PodPort> pod = {};          ///< of a service: behind it, and to be connected to

    friend bool operator==(const WebhookEndpoint&, const WebhookEndpoint&) = default;
};

/// How the API reaches admission webhooks. The composition root connects it to the network.
class WebhookCaller {
  public:
    virtual ~WebhookCaller() = default;

    /// Posts a JSON body and gives the body of the answer 200. kTimeout when `time` is over; any
    /// other failure says what went wrong, for people.
    virtual Task<Result<std::string>> post(WebhookEndpoint endpoint, std::string body,
                                           Duration time) = 0;
};

}  // namespace muster::apiserver
