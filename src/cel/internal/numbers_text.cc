#include "cel/internal/numbers_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/lower_case.h"
#include "cel/internal/characters.h"

namespace muster::cel {
namespace {

/// Go's names for infinities and NaN.
std::optional<double> special(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const std::string word = lower_case(text);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (word == "inf" || word == "infinity") return negative ? -kInfinity : kInfinity;
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
}

}  // namespace

std::string double_text(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
    std::array<char, 400> buffer{};
    char* const begin = buffer.data();
    const auto scientific =
        std::to_chars(begin, begin + buffer.size(), number, std::chars_format::scientific);
    std::string text(begin, scientific.ptr);
    const std::size_t mark = text.find('e');
    int exponent = 0;
    const char* digits = text.data() + mark + (text[mark + 1] == '+' ? 2 : 1);
    std::from_chars(digits, text.data() + text.size(), exponent);
    if (exponent < -4 || exponent >= 6) return text;
    const auto fixed =
        std::to_chars(begin, begin + buffer.size(), number, std::chars_format::fixed);
    return {begin, fixed.ptr};
}

std::optional<double> parse_double(std::string_view text) {
    if (const std::optional<double> named = special(text)) return named;
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return std::nullopt;
    }
    const bool looks_right = !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_digit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
    });
    const bool has_digit = std::ranges::any_of(text, is_digit);
    if (!looks_right || !has_digit) return std::nullopt;
    // from_chars wants a digit before the point.
    std::string padded(text);
    const std::size_t sign = padded.starts_with('-') ? 1 : 0;
    if (padded.size() > sign && padded[sign] == '.') padded.insert(sign, 1, '0');
    double number = 0;
    const char* const end = padded.data() + padded.size();
    const auto [stop, error] = std::from_chars(padded.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

}  // namespace muster::cel
