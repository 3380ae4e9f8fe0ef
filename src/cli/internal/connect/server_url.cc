#include "cli/internal/connect/server_url.h"

#include <fmt/format.h>

#include <optional>

#include "base/fields.h"
#include "net/port.h"

namespace muster::cli {

namespace {

constexpr std::string_view kTls = "https://";
constexpr std::string_view kPlain = "http://";

Error wrong(std::string_view text, std::string_view why) {
    return Error(Code::kInvalid,
                 fmt::format("\"{}\" {}; it has to look like https://HOST:PORT", text, why));
}

}  // namespace

std::string ServerUrl::authority() const {
    const bool v6 = host.find(':') != host.npos;
    return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string ServerUrl::text() const {
    return fmt::format("{}{}{}", tls ? kTls : kPlain, authority(), path_prefix);
}

Result<ServerUrl> parse_server_url(std::string_view text, bool tls_is_meant) {
    ServerUrl url;
    std::string_view rest = text;
    if (rest.starts_with(kTls)) {
        rest.remove_prefix(kTls.size());
    } else if (rest.starts_with(kPlain)) {
        rest.remove_prefix(kPlain.size());
        url.tls = false;
    } else if (rest.find("://") != rest.npos) {
        return wrong(text, "has a scheme that is neither https nor http");
    } else {
        url.tls = tls_is_meant;
    }
    if (rest.find_first_of("?#") != rest.npos) return wrong(text, "has a query or a fragment");
    const std::size_t slash = rest.find('/');
    if (slash != rest.npos) {
        std::string_view prefix = rest.substr(slash);
        while (prefix.ends_with('/')) prefix.remove_suffix(1);
        url.path_prefix = prefix;
        rest = rest.substr(0, slash);
    }
    if (rest.find('@') != rest.npos)
        return wrong(text, "has a user in it, which belongs under \"users\"");
    std::optional<std::string_view> port;
    if (rest.starts_with('[')) {
        rest.remove_prefix(1);
        if (rest.find(']') == rest.npos) return wrong(text, "has a '[' without its ']'");
        url.host = take_field(rest, ']');
        if (rest.starts_with(':'))
            port = rest.substr(1);
        else if (!rest.empty())
            return wrong(text, "has something between ']' and the port");
    } else {
        const bool has_port = rest.find(':') != rest.npos;
        url.host = take_field(rest, ':');
        if (has_port) port = rest;
    }
    if (url.host.empty()) return wrong(text, "names no host");
    if (!port) {
        url.port = url.tls ? 443 : 80;
        return url;
    }
    const std::optional<std::uint16_t> number = net::parse_port(*port);
    if (!number) return wrong(text, "has a port that is no number from 1 to 65535");
    url.port = *number;
    return url;
}

}  // namespace muster::cli
