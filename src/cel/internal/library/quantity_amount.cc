#include "cel/internal/library/quantity_amount.h"

#include <algorithm>
#include <string>

#include "base/parse_number.h"
#include "cel/internal/characters.h"

namespace muster::cel {
namespace {

/// The digits that 64 bits hold in any case, and those that upstream keeps as a whole number of a
/// power of two.
constexpr int kDigits = 18;
constexpr int kBinaryDigits = 15;
constexpr int kLeastScale = -9;

struct Suffix {
    int exponent = 0;
    bool binary = false;
};

Suffix suffix_of(std::string_view text) {
    constexpr std::string_view kSmall = "num";
    constexpr std::string_view kLarge = "kMGTPE";
    if (text.empty()) return {};
    if (text.size() == 2 && text[1] == 'i') {
        constexpr std::string_view kBinary = "KMGTPE";
        return {static_cast<int>(kBinary.find(text[0]) + 1) * 10, true};
    }
    if (text.size() == 1) {
        if (const std::size_t at = kSmall.find(text[0]); at != kSmall.npos)
            return {static_cast<int>(at) * 3 - 9, false};
        return {static_cast<int>(kLarge.find(text[0]) + 1) * 3, false};
    }
    text.remove_prefix(text[1] == '+' ? 2 : 1);  // "e3", "E+3"
    return {parse_number<int>(text).value_or(0), false};
}

std::string_view take_digits(std::string_view& text) {
    const auto end = std::ranges::find_if_not(text, is_digit) - text.begin();
    const std::string_view digits = text.substr(0, static_cast<std::size_t>(end));
    text.remove_prefix(digits.size());
    return digits;
}

/// The value times ten to the power; nothing if it does not fit.
std::optional<std::int64_t> raised(std::int64_t value, int power) {
    for (; power > 0 && value != 0; --power)
        if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return std::nullopt;
    return value;
}

}  // namespace

QuantityAmount QuantityAmount::of_text(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
    if (text.empty()) return {0, 0};
    const std::string_view before = take_digits(text);
    std::string digits(before.empty() ? "0" : before);
    const int whole = static_cast<int>(digits.size());
    int fraction = 0;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        const std::string_view after = take_digits(text);
        fraction = static_cast<int>(after.size());
        digits += after;
    }
    const Suffix suffix = suffix_of(text);
    if (suffix.binary && (fraction > 0 || whole + suffix.exponent * 3 / 10 + 1 > kBinaryDigits))
        return decimal(kLeastScale);
    const std::int64_t scale = suffix.binary ? 0 : std::int64_t{suffix.exponent} - fraction;
    if (whole + fraction > kDigits || scale < kLeastScale) return decimal(kLeastScale);
    std::int64_t value = parse_number<std::int64_t>(digits).value_or(0);
    if (suffix.binary) value <<= suffix.exponent;
    return {negative ? -value : value, static_cast<int>(scale)};
}

QuantityAmount QuantityAmount::plus(QuantityAmount other) const {
    if (is_decimal_ || other.is_decimal_) return decimal(std::min(scale_, other.scale_));
    if (other.value_ == 0) return *this;
    if (value_ == 0) return other;
    const int scale = std::min(scale_, other.scale_);
    const auto mine = raised(value_, scale_ - scale);
    const auto others = raised(other.value_, other.scale_ - scale);
    std::int64_t sum = 0;
    if (!mine || !others || __builtin_add_overflow(*mine, *others, &sum)) return decimal(scale);
    return {sum, scale};
}

QuantityAmount QuantityAmount::minus(QuantityAmount other) const {
    other.value_ = -other.value_;
    return plus(other);
}

std::optional<std::int64_t> QuantityAmount::integer() const {
    if (is_decimal_ || scale_ < 0) return std::nullopt;
    return raised(value_, scale_);
}

QuantityAmount QuantityAmount::decimal(int scale) {
    QuantityAmount made(0, scale);
    made.is_decimal_ = true;
    return made;
}

}  // namespace muster::cel
