#include "apiserver/webhook_caller.h"

#include <fmt/format.h>

namespace muster::apiserver {

std::string WebhookEndpoint::authority() const {
    const std::string name = host.find(':') == host.npos ? host : fmt::format("[{}]", host);
    return port == 443 && !service ? name : fmt::format("{}:{}", name, port);
}

std::string WebhookEndpoint::url(Duration time) const {
    return fmt::format("https://{}{}?timeout={}s", authority(), path,
                       std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

}  // namespace muster::apiserver
