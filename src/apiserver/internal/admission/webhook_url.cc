#include "apiserver/internal/admission/webhook_url.h"

#include "net/port.h"

namespace muster::apiserver {

std::optional<WebhookUrl> parse_webhook_url(std::string_view text) {
    constexpr std::string_view kScheme = "https://";
    if (!text.starts_with(kScheme) || text.find_first_of("@?# \r\n") != text.npos)
        return std::nullopt;
    text.remove_prefix(kScheme.size());
    const std::size_t slash = text.find('/');
    WebhookUrl url;
    if (slash != text.npos) url.path = text.substr(slash);
    std::string_view authority = text.substr(0, slash);
    std::string_view port;
    if (authority.starts_with('[')) {
        const std::size_t end = authority.find(']');
        if (end == authority.npos) return std::nullopt;
        url.host = authority.substr(1, end - 1);
        port = authority.substr(end + 1);
    } else {
        const std::size_t colon = authority.find(':');
        url.host = authority.substr(0, colon);
        if (colon != authority.npos) port = authority.substr(colon);
    }
    if (url.host.empty()) return std::nullopt;
    if (port.empty()) return url;
    port.remove_prefix(1);
    const std::optional<std::uint16_t> number = net::parse_port(port);
    if (!number) return std::nullopt;
    url.port = *number;
    return url;
}

}  // namespace muster::apiserver
