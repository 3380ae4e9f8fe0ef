#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/proxy_tunnel.h"

namespace muster::net {

/// The messages of SOCKS 5 (RFC 1928) and of its login by password (RFC 1929). Pure.

enum class SocksMethod { kNone, kPassword };

/// The client's first message.
std::string socks_hello(bool has_login);
inline constexpr std::size_t kSocksChoiceBytes = 2;
/// The authentication method that the proxy chose. kUnauthorized if it accepts none of ours.
Result<SocksMethod> read_socks_choice(std::string_view bytes, bool has_login);

/// kInvalid if user or password is empty or longer than 255 bytes.
Result<std::string> socks_login(const ProxyLogin& login);
inline constexpr std::size_t kSocksVerdictBytes = 2;
Result<void> read_socks_verdict(std::string_view bytes);

/// kInvalid if the name is longer than 255 bytes.
Result<std::string> socks_connect(const TunnelEnd& to);
/// The reply up to the first byte of its address; if the address is a name, that byte is its
/// length.
inline constexpr std::size_t kSocksReplyBytes = 5;
/// How many bytes of the reply follow. kForbidden or kUnavailable if the proxy did not connect.
Result<std::size_t> read_socks_reply(std::string_view bytes);

}  // namespace muster::net
