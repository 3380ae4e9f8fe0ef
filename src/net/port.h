#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::net {

/// "6443": only digits, from 1 to 65535. Nullopt for anything else.
std::optional<std::uint16_t> parse_port(std::string_view text);

}  // namespace muster::net
