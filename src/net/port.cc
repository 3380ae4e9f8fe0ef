#include "net/port.h"

#include <charconv>

namespace muster::net {

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (failed != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
    return port;
}

}  // namespace muster::net
