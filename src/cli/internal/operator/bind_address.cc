#include "cli/internal/operator/bind_address.h"

#include <boost/asio/ip/address.hpp>

#include "net/port.h"

namespace muster::cli {

std::optional<BindAddress> parse_bind_address(std::string_view text) {
    if (text.empty() || text == "0") return BindAddress{};
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos) return std::nullopt;
    const std::optional<std::uint16_t> port = net::parse_port(text.substr(colon + 1));
    if (!port || *port == 0) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    if (host.empty()) return BindAddress{.address = {}, .port = *port};
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    boost::system::error_code wrong;
    const auto address = boost::asio::ip::make_address(host, wrong);
    if (wrong || address.is_v6() != bracketed) return std::nullopt;
    return BindAddress{.address = address.to_string(), .port = *port};
}

}  // namespace muster::cli
