#include "net/internal/http/socks.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/ip/address.hpp>

namespace muster::net {

namespace {

constexpr char kVersion = 5;
constexpr char kNoLogin = 0;
constexpr char kByPassword = 2;
constexpr char kConnect = 1;
constexpr char kV4 = 1;
constexpr char kName = 3;
constexpr char kV6 = 4;
constexpr std::size_t kMostText = 255;
constexpr std::size_t kPortBytes = 2;

/// By number, from 1 on.
constexpr std::array<std::string_view, 8> kRefusals = {"it failed",
                                                       "its rules forbid it",
                                                       "the network can't be reached",
                                                       "the host can't be reached",
                                                       "the connection was refused",
                                                       "the time to live has expired",
                                                       "it opens no connections",
                                                       "it does not know this kind of address"};
constexpr std::size_t kForbiddenByRules = 2;

Error not_socks() { return Error(Code::kUnavailable, "it does not speak SOCKS 5"); }

std::string with_length(std::string_view text) {
    return std::string(1, static_cast<char>(text.size())).append(text);
}

template <class Bytes>
std::string text_of(const Bytes& bytes) {
    return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string socks_hello(bool has_login) {
    if (has_login) return {kVersion, 2, kNoLogin, kByPassword};
    return {kVersion, 1, kNoLogin};
}

Result<SocksMethod> read_socks_choice(std::string_view bytes, bool has_login) {
    if (bytes.size() != kSocksChoiceBytes || bytes[0] != kVersion) return not_socks();
    if (bytes[1] == kNoLogin) return SocksMethod::kNone;
    if (bytes[1] == kByPassword && has_login) return SocksMethod::kPassword;
    return Error(Code::kUnauthorized,
                 has_login ? "it takes no user and password"
                           : "it requires authentication, but its URL has no user and password");
}

Result<std::string> socks_login(const ProxyLogin& login) {
    for (const std::string& text : {login.user, login.password})
        if (text.empty() || text.size() > kMostText)
            return Error(Code::kInvalid, "its user and password have to have 1 to 255 bytes each");
    return std::string(1, '\1') + with_length(login.user) + with_length(login.password);
}

Result<void> read_socks_verdict(std::string_view bytes) {
    if (bytes.size() != kSocksVerdictBytes) return not_socks();
    if (bytes[1] != 0) return Error(Code::kUnauthorized, "it does not take the user and password");
    return {};
}

Result<std::string> socks_connect(const TunnelEnd& to) {
    std::string wish = {kVersion, kConnect, 0};
    boost::system::error_code no_address;
    const auto address = asio::ip::make_address(to.host, no_address);
    if (no_address) {
        if (to.host.size() > kMostText)
            return Error(Code::kInvalid, "the name of the server has more than 255 bytes");
        wish += kName + with_length(to.host);
    } else if (address.is_v4()) {
        wish += kV4 + text_of(address.to_v4().to_bytes());
    } else {
        wish += kV6 + text_of(address.to_v6().to_bytes());
    }
    wish += static_cast<char>(to.port >> 8);
    wish += static_cast<char>(to.port & 0xff);
    return wish;
}

Result<std::size_t> read_socks_reply(std::string_view bytes) {
    if (bytes.size() != kSocksReplyBytes || bytes[0] != kVersion) return not_socks();
    const auto refusal = static_cast<unsigned char>(bytes[1]);
    if (refusal != 0)
        return Error(refusal == kForbiddenByRules ? Code::kForbidden : Code::kUnavailable,
                     refusal <= kRefusals.size()
                         ? std::string(kRefusals[refusal - 1])
                         : fmt::format("it answered with the number {}", refusal));
    // One byte of the address is here already.
    if (bytes[3] == kV4) return 3 + kPortBytes;
    if (bytes[3] == kV6) return 15 + kPortBytes;
    if (bytes[3] == kName) return static_cast<unsigned char>(bytes[4]) + kPortBytes;
    return not_socks();
}

}  // namespace muster::net
