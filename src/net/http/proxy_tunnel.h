#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/byte_stream.h"

namespace muster::net {

/// Where a tunnel leads: a name, which the proxy looks up, or an address.
struct TunnelEnd {
    std::string host;  ///< IPv6 without its brackets
    std::uint16_t port;
};

/// Our credentials for the proxy; empty for none.
struct ProxyLogin {
    std::string user;
    std::string password;

    bool empty() const { return user.empty() && password.empty(); }
    friend bool operator==(const ProxyLogin&, const ProxyLogin&) = default;
};

/// Makes the HTTP proxy at the other end of `stream` open a tunnel to `to` (RFC 9110, section
/// 9.3.6) and returns it. kForbidden if the proxy refuses, kUnauthorized if it requires another
/// login, kUnavailable if the connection broke. The proxy may take any time: the caller sets a
/// limit.
Task<Result<std::unique_ptr<ByteStream>>> tunnel_through_http(std::unique_ptr<ByteStream> stream,
                                                              TunnelEnd to, ProxyLogin login);

/// The same through a SOCKS 5 proxy (RFC 1928), with its login (RFC 1929).
Task<Result<std::unique_ptr<ByteStream>>> tunnel_through_socks(std::unique_ptr<ByteStream> stream,
                                                               TunnelEnd to, ProxyLogin login);

}  // namespace muster::net
