#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace muster {

/// The number if the whole text is a decimal number that fits into T; otherwise nothing.
template <class T>
std::optional<T> parse_number(std::string_view text) {
    T number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

}  // namespace muster
