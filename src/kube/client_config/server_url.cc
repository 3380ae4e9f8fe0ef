#include "kube/client_config/server_url.h"

#include <fmt/format.h>

#include "base/fields.h"
#include "net/port.h"

namespace muster::kube {

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

Result<HostPort> parse_host_port(std::string_view text) {
    const auto no = [](const char* why) { return Error(Code::kInvalid, why); };
    HostPort parsed;
    std::optional<std::string_view> port;
    if (text.starts_with('[')) {
        text.remove_prefix(1);
        if (text.find(']') == text.npos) return no("has a '[' without its ']'");
        parsed.host = take_field(text, ']');
        if (text.starts_with(':'))
            port = text.substr(1);
        else if (!text.empty())
            return no("has something between ']' and the port");
    } else {
        const bool has_port = text.find(':') != text.npos;
        parsed.host = take_field(text, ':');
        if (has_port) port = text;
    }
    if (parsed.host.empty()) return no("names no host");
    if (!port) return parsed;
    parsed.port = net::parse_port(*port);
    if (!parsed.port) return no("has a port that is not a number from 1 to 65535");
    return parsed;
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
    Result<HostPort> address = parse_host_port(rest);
    if (!address) return wrong(text, address.error().message());
    url.host = std::move(address->host);
    url.port = address->port.value_or(url.tls ? 443 : 80);
    return url;
}

}  // namespace muster::kube
