#include "kube/client_config/proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "base/fields.h"
#include "base/lower_case.h"
#include "base/trimmed.h"
#include "kube/client_config/environment.h"

namespace muster::kube {

namespace {

namespace ip = boost::asio::ip;

struct Scheme {
    std::string_view name;
    Proxy::Kind kind;
    std::uint16_t port;
};
/// A SOCKS proxy looks up names itself, with either of its schemes.
constexpr Scheme kSchemes[] = {{"http", Proxy::Kind::kHttp, 80},
                               {"https", Proxy::Kind::kHttps, 443},
                               {"socks5", Proxy::Kind::kSocks5, 1080},
                               {"socks5h", Proxy::Kind::kSocks5, 1080}};

Error wrong(std::string_view why) {
    return Error(
        Code::kInvalid,
        fmt::format("{}; it has to look like http://HOST:PORT, with http, https or socks5", why));
}

int digit_of(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
    return -1;
}

std::optional<std::string> unescape(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            plain += text[at];
            continue;
        }
        const int high = at + 2 < text.size() ? digit_of(text[at + 1]) : -1;
        const int low = at + 2 < text.size() ? digit_of(text[at + 2]) : -1;
        if (high < 0 || low < 0) return std::nullopt;
        plain += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return plain;
}

std::optional<ip::address> address_of(std::string_view text) {
    boost::system::error_code failed;
    ip::address address = ip::make_address(text, failed);
    if (failed) return std::nullopt;
    // An IPv4-mapped IPv6 address means the IPv4 one.
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        address = ip::make_address_v4(ip::v4_mapped, address.to_v6());
    return address;
}

/// Whether "10.0.0.0/8" is a network at all, and whether it contains the address.
struct Membership {
    bool is_network = false;
    bool is_in_it = false;
};

template <class Network, class Addresses>
bool has(const Network& network, const Addresses& address) {
    return network.canonical() == Network(address, network.prefix_length()).canonical();
}

Membership look_in(const std::string& text, const std::optional<ip::address>& address) {
    boost::system::error_code failed;
    if (const auto v4 = ip::make_network_v4(text, failed); !failed)
        return {true, address && address->is_v4() && has(v4, address->to_v4())};
    if (const auto v6 = ip::make_network_v6(text, failed); !failed)
        return {true, address && address->is_v6() && has(v6, address->to_v6())};
    return {};
}

struct HostAndPort {
    std::string_view host;
    std::string_view port;  ///< empty: any
};

/// "a:1", "[::1]:1"; anything else is only a host, even an IPv6 address.
HostAndPort split(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == text.npos) return {text, {}};
        return {text.substr(1, end - 1), colon == end + 1 ? text.substr(colon + 1) : ""};
    }
    if (colon == text.npos || text.find(':') != colon) return {text, {}};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

std::string Proxy::text() const {
    const auto* scheme = std::ranges::find(kSchemes, kind, &Scheme::kind);
    const bool v6 = host.find(':') != host.npos;
    return fmt::format("{}://{}{}{}:{}", scheme->name, v6 ? "[" : "", host, v6 ? "]" : "", port);
}

Result<Proxy> parse_proxy(std::string_view text) {
    const std::size_t end = text.find("://");
    if (end == text.npos) return wrong("it has no scheme");
    const std::string name = lower_case(text.substr(0, end));
    const auto* scheme = std::ranges::find(kSchemes, std::string_view(name), &Scheme::name);
    if (scheme == std::end(kSchemes)) return wrong(fmt::format("the scheme is \"{}\"", name));
    std::string_view rest = text.substr(end + 3);
    rest = rest.substr(0, rest.find_first_of("/?#"));
    Proxy proxy{.kind = scheme->kind, .host = {}, .port = scheme->port};
    if (const std::size_t at = rest.rfind('@'); at != rest.npos) {
        std::string_view password = rest.substr(0, at);
        const std::string_view user = take_field(password, ':');
        const auto plain_user = unescape(user);
        const auto plain_password = unescape(password);
        if (!plain_user || !plain_password)
            return wrong("its user or password has a '%' that begins no escaped byte");
        proxy.login = {*plain_user, *plain_password};
        rest.remove_prefix(at + 1);
    }
    Result<HostPort> address = parse_host_port(rest);
    if (!address) return wrong("it " + address.error().message());
    proxy.host = std::move(address->host);
    if (address->port) proxy.port = *address->port;
    return proxy;
}

bool is_without_proxy(std::string_view list, std::string_view host, std::uint16_t port) {
    const std::string name = lower_case(host);
    const std::optional<ip::address> address = address_of(host);
    const std::string number = std::to_string(port);
    while (!list.empty()) {
        const std::string entry = lower_case(trimmed(take_field(list, ','), " \t\r\n"));
        if (entry.empty()) continue;
        if (entry == "*") return true;
        if (const Membership found = look_in(entry, address); found.is_network) {
            if (found.is_in_it) return true;
            continue;
        }
        auto [wanted, its_port] = split(entry);
        if (wanted.empty() || (!its_port.empty() && its_port != number)) continue;
        if (const auto one = address_of(wanted)) {
            if (address && *address == *one) return true;
            continue;
        }
        // "a.b" matches itself and everything below it; ".a.b" and "*.a.b" only what is below.
        if (wanted.starts_with("*.")) wanted.remove_prefix(1);
        if (wanted == name) return true;
        const std::string below =
            wanted.starts_with('.') ? std::string(wanted) : std::string(".").append(wanted);
        if (name.ends_with(below)) return true;
    }
    return false;
}

Result<std::optional<Proxy>> proxy_from_environment(const ServerUrl& server,
                                                    const std::vector<std::string>& environment) {
    const auto either = [&](const std::string& name) {
        const std::string value = variable_of(environment, name);
        return value.empty() ? variable_of(environment, lower_case(name)) : value;
    };
    const std::string variable = server.tls ? "HTTPS_PROXY" : "HTTP_PROXY";
    const std::string text = either(variable);
    const std::optional<ip::address> address = address_of(server.host);
    if (text.empty() || server.host == "localhost" || (address && address->is_loopback()) ||
        is_without_proxy(either("NO_PROXY"), server.host, server.port))
        return std::optional<Proxy>();
    // "proxy:3128" means HTTP.
    Result<Proxy> proxy = parse_proxy(text.find("://") == text.npos ? "http://" + text : text);
    if (!proxy)
        return Error(proxy.error())
            .prefix(fmt::format("{} of the environment, the proxy to {}", variable, server.text()));
    return std::optional(*std::move(proxy));
}

}  // namespace muster::kube
