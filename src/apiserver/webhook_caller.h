#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apiserver/objects/service_name.h"
#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"

namespace muster::apiserver {

/// A port of a running pod.
struct PodPort {
    std::string namespace_;
    std::string pod;
    std::uint16_t number = 0;

    friend bool operator==(const PodPort&, const PodPort&) = default;
};

/// A port at an IP address, or at a name of DNS.
struct NetworkPort {
    std::string host;
    std::uint16_t number = 0;

    friend bool operator==(const NetworkPort&, const NetworkPort&) = default;
};

/// Where a webhook listens, always with TLS.
struct WebhookEndpoint {
    std::string host;  ///< an address or a name; for a service NAME.NAMESPACE.svc
    std::uint16_t port = 443;
    std::string path = "/";
    std::string ca_pem;                       ///< whom to trust; empty: as the machine does
    std::optional<ServiceName> service = {};  ///< the service that `host` names
    // Of a service, where to connect to: one of them.
    std::optional<PodPort> pod = {};
    std::optional<NetworkPort> place = {};

    /// As URL and Host field name it: that of a service always has its port.
    std::string authority() const;
    /// The URL of a call that may take so long.
    std::string url(Duration time) const;

    friend bool operator==(const WebhookEndpoint&, const WebhookEndpoint&) = default;
};

/// How the API reaches webhooks. The composition root connects it to the network.
class WebhookCaller {
  public:
    virtual ~WebhookCaller() = default;

    /// Posts a JSON body and returns that of a successful answer. Redirects are followed.
    /// kTimeout after `time`; any other failure says, in the words of client-go, what went wrong.
    virtual Task<Result<std::string>> post(WebhookEndpoint endpoint, std::string body,
                                           Duration time) = 0;
};

}  // namespace muster::apiserver
