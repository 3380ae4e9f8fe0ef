#pragma once

#include <cstdint>

namespace muster::cel {

// Of ASCII, whatever the locale.

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// What a hexadecimal digit counts, -1 of any other character.
constexpr int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}
/// A byte of UTF-8 that does not begin a character.
constexpr bool continues_character(char c) {
    return (static_cast<std::uint8_t>(c) & 0xc0u) == 0x80u;
}

}  // namespace muster::cel
