#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace muster::cel {

/// What a text of an IP address says.
struct AddressText {
    bool is_v4 = true;
    bool has_zone = false;
    std::array<std::uint8_t, 16> bytes{};  ///< the first four of version 4
};

/// As Go's netip.ParseAddr reads it, with its reasons: rules show them.
std::expected<AddressText, std::string> read_address(std::string_view text);

}  // namespace muster::cel
