#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/client_config/server_url.h"
#include "net/http/proxy_tunnel.h"

namespace muster::kube {

/// The proxy through which a server is reached.
struct Proxy {
    enum class Kind { kHttp, kHttps, kSocks5 };  ///< kHttps: HTTP over TLS to the proxy itself

    Kind kind = Kind::kHttp;
    std::string host;  ///< a name or an address, IPv6 without its brackets
    std::uint16_t port = 80;
    net::ProxyLogin login = {};

    /// "http://proxy:3128", without the login.
    std::string text() const;
    friend bool operator==(const Proxy&, const Proxy&) = default;
};

/// "http://user:password@proxy:3128", or with https, socks5 or socks5h. kInvalid says what is
/// wrong, without the password.
Result<Proxy> parse_proxy(std::string_view text);

/// The proxy to `server` according to an environment, as Go's net/http and thus other clients read
/// it: HTTPS_PROXY or HTTP_PROXY by the server's scheme, unless NO_PROXY lists the server; each
/// name also in lower case. Nothing for this machine itself. Pure. kInvalid names the variable.
Result<std::optional<Proxy>> proxy_from_environment(const ServerUrl& server,
                                                    const std::vector<std::string>& environment);

/// Whether NO_PROXY includes the server. It is a list of hosts, suffixes, addresses, networks and
/// "*", of which all but the last two may have a port. `host` has no brackets. Pure.
bool is_without_proxy(std::string_view list, std::string_view host, std::uint16_t port);

}  // namespace muster::kube
