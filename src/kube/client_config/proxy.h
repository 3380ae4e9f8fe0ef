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

/// Through whom a server is reached.
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

/// "http://user:password@proxy:3128", also with https, socks5 and socks5h. kInvalid says what is
/// wrong, without the password.
Result<Proxy> parse_proxy(std::string_view text);

/// The proxy to `server` that an environment names, as Go's net/http and so other clients read it:
/// HTTPS_PROXY or HTTP_PROXY by the server's scheme, unless NO_PROXY has it, each also in lower
/// case. None to this machine itself. Pure. kInvalid names the variable.
Result<std::optional<Proxy>> proxy_from_environment(const ServerUrl& server,
                                                    const std::vector<std::string>& environment);

/// Whether NO_PROXY, a list of hosts, suffixes, addresses, networks and "*", each but the last two
/// also with a port, has the server. `host` is in no brackets. Pure.
bool is_without_proxy(std::string_view list, std::string_view host, std::uint16_t port);

}  // namespace muster::kube
