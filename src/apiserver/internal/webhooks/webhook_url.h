#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// The parts of `https://HOST[:PORT][/PATH]`.
struct WebhookUrl {
    std::string host;  ///< an IPv6 address without its brackets
    std::uint16_t port = 443;
    std::string path = "/";  ///< as request_path() makes it

    friend bool operator==(const WebhookUrl&, const WebhookUrl&) = default;
};

/// The problem, in upstream's words, of what a webhook's URL may not be or have: another scheme, a
/// user, a query, a fragment.
std::expected<WebhookUrl, Cause> parse_webhook_url(std::string_view text, const std::string& field);

/// The path that client-go requests for the path of a webhook: without empty segments, "." and
/// "..", and without a slash at the end; nullopt if an escape in it is not one.
std::optional<std::string> request_path(std::string_view path);

}  // namespace muster::apiserver
