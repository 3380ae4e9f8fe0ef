#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace muster {

/// The number if the whole text is one that fits into T: digits of the base, after a '-' if T is
/// signed. Otherwise nothing: for a text with a blank, a '+' or "0x", too.
template <std::integral T>
std::optional<T> parse_number(std::string_view text, int base = 10) {
    T number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, base);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

/// The same for a number that may have a fraction and an exponent, and for "inf" and "nan".
template <std::floating_point T>
std::optional<T> parse_number(std::string_view text) {
    T number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

/// The decimal number that the text begins with, whatever comes behind it. Nothing where there is
/// none, or T does not hold it.
template <std::integral T>
std::optional<T> leading_number(std::string_view text) {
    T number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    return number;
}

}  // namespace muster
