#include "net/port.h"

#include "base/parse_number.h"

namespace muster::net {

std::optional<std::uint16_t> parse_port(std::string_view text) {
    const auto port = parse_number<std::uint16_t>(text);
    return port == 0 ? std::nullopt : port;
}

}  // namespace muster::net
