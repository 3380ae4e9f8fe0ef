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

/// Who we are to the proxy; empty: nobody.
struct ProxyLogin {
    std::string user;
    std::string password;

    bool empty() const { return user.empty() && password.empty(); }
    friend bool operator==(const ProxyLogin&, const ProxyLogin&) = default;
};

/// Has the HTTP proxy behind `stream` open a way to `to` (RFC 9110, section 9.3.6) and returns it.
/// kForbidden when the proxy refuses, kUnauthorized when it wants another login, kUnavailable when
/// the connection broke. It may wait as long as the proxy likes: whoever calls sets a limit.
Task<Result<std::unique_ptr<ByteStream>>> tunnel_through_http(std::unique_ptr<ByteStream> stream,
                                                              TunnelEnd to, ProxyLogin login);

/// The same with a SOCKS 5 proxy (RFC 1928), its login with RFC 1929.
Task<Result<std::unique_ptr<ByteStream>>> tunnel_through_socks(std::unique_ptr<ByteStream> stream,
                                                               TunnelEnd to, ProxyLogin login);

}  // namespace muster::net
