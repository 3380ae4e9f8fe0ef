#include "apiserver/internal/webhooks/webhook_url.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "net/http/percent_decoding.h"
#include "net/port.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kForm = "; desired format: https://host[/path]";

/// The characters that Go's net/url leaves as they are in a path.
bool stays_in_path(char character) {
    constexpr std::string_view kMarks = "-_.~$&+,/:;=@";
    const auto byte = static_cast<unsigned char>(character);
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || kMarks.find(character) != kMarks.npos;
}

std::string escaped(std::string_view path) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string text;
    for (const char character : path) {
        if (stays_in_path(character)) {
            text += character;
            continue;
        }
        const auto byte = static_cast<unsigned char>(character);
        text += '%';
        text += kDigits[byte / 16];
        text += kDigits[byte % 16];
    }
    return text;
}

Cause unreadable(std::string_view url, const std::string& field, std::string_view why) {
    return required(field,
                    fmt::format("url must be a valid URL: parse \"{}\": {}{}", url, why, kForm));
}

Cause refused(const std::string& field, std::string_view value, std::string_view why) {
    return invalid_value(field, json::value(value), why);
}

/// The host, and the port where one is written.
std::expected<WebhookUrl, std::string> parse_authority(std::string_view authority) {
    WebhookUrl url;
    std::string_view port;
    if (authority.starts_with('[')) {
        const std::size_t end = authority.find(']');
        if (end == authority.npos) return std::unexpected("missing ']' in host");
        url.host = authority.substr(1, end - 1);
        port = authority.substr(end + 1);
    } else {
        const std::size_t colon = authority.find(':');
        url.host = authority.substr(0, colon);
        if (colon != authority.npos) port = authority.substr(colon);
    }
    if (port.empty() || port == ":") return url;
    const std::optional<std::uint16_t> number =
        port.starts_with(':') ? net::parse_port(port.substr(1)) : std::nullopt;
    if (!number) return std::unexpected(fmt::format("invalid port \"{}\" after host", port));
    url.port = *number;
    return url;
}

}  // namespace

std::optional<std::string> request_path(std::string_view path) {
    const std::optional<std::string> plain = net::percent_decoded(path);
    if (!plain) return std::nullopt;
    std::vector<std::string_view> kept;
    for (std::size_t begin = 0; begin <= plain->size();) {
        const std::size_t end = std::min(plain->find('/', begin), plain->size());
        const std::string_view segment = std::string_view(*plain).substr(begin, end - begin);
        begin = end + 1;
        if (segment.empty() || segment == ".") continue;
        if (segment != "..")
            kept.push_back(segment);
        else if (!kept.empty())
            kept.pop_back();
    }
    return escaped(fmt::format("/{}", fmt::join(kept, "/")));
}

std::expected<WebhookUrl, Cause> parse_webhook_url(std::string_view text,
                                                   const std::string& field) {
    const auto is_control = [](char each) { return static_cast<unsigned char>(each) < ' '; };
    if (std::ranges::any_of(text, is_control) || text.find('\x7f') != text.npos)
        return std::unexpected(
            unreadable("...", field, "net/url: invalid control character in URL"));
    std::string_view rest = text;
    std::string_view fragment;
    if (const std::size_t hash = rest.find('#'); hash != rest.npos) {
        fragment = rest.substr(hash + 1);
        rest = rest.substr(0, hash);
    }
    std::string_view query;
    if (const std::size_t mark = rest.find('?'); mark != rest.npos) {
        query = rest.substr(mark + 1);
        rest = rest.substr(0, mark);
    }
    const std::size_t colon = rest.find(':');
    const std::string_view scheme =
        colon == rest.npos || rest.find('/') < colon ? std::string_view() : rest.substr(0, colon);
    if (scheme != "https")
        return std::unexpected(
            refused(field, scheme, fmt::format("'https' is the only allowed URL scheme{}", kForm)));
    rest.remove_prefix(colon + 1);
    if (!rest.starts_with("//") || rest.size() == 2 || rest[2] == '/')
        return std::unexpected(refused(field, "", fmt::format("host must be specified{}", kForm)));
    rest.remove_prefix(2);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    std::string_view authority = rest.substr(0, slash);
    if (const std::size_t at = authority.rfind('@'); at != authority.npos)
        return std::unexpected(refused(field, authority.substr(0, at),
                                       "user information is not permitted in the URL"));
    std::expected<WebhookUrl, std::string> url = parse_authority(authority);
    if (!url) return std::unexpected(unreadable(text, field, url.error()));
    if (url->host.empty())
        return std::unexpected(refused(field, "", fmt::format("host must be specified{}", kForm)));
    if (const std::size_t odd = url->host.find_first_of(" \"<>\\^`{|}"); odd != url->host.npos)
        return std::unexpected(unreadable(
            text, field, fmt::format("invalid character \"{}\" in host name", url->host[odd])));
    if (!fragment.empty())
        return std::unexpected(refused(field, fragment, "fragments are not permitted in the URL"));
    if (!query.empty())
        return std::unexpected(
            refused(field, query, "query parameters are not permitted in the URL"));
    std::optional<std::string> path = request_path(rest.substr(slash));
    if (!path) return std::unexpected(unreadable(text, field, "invalid URL escape in the path"));
    url->path = *std::move(path);
    return *std::move(url);
}

}  // namespace muster::apiserver
