#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace muster {

/// The decimal number that the whole text is. Nothing for another text, and for a number that T
/// does not hold.
template <class T>
std::optional<T> parse_number(std::string_view text) {
    T number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

}  // namespace muster
