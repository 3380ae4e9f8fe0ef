#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::apiserver {

/// The parts of `https://HOST[:PORT][/PATH]`.
struct WebhookUrl {
    std::string host;  ///< an IPv6 address without its brackets
    std::uint16_t port = 443;
    std::string path = "/";

    friend bool operator==(const WebhookUrl&, const WebhookUrl&) = default;
};

/// Nullopt for anything that a webhook's URL may not have: another scheme, a user, a query, a
/// fragment.
std::optional<WebhookUrl> parse_webhook_url(std::string_view text);

}  // namespace muster::apiserver
