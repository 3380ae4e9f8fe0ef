#include "kube/values/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/string.hpp>
#include <cmath>
#include <limits>
#include <optional>

#include "base/parse_number.h"
#include "base/trimmed.h"

namespace muster::kube {
namespace {

__extension__ typedef __int128 Int128;
using Format = Quantity::Format;

constexpr Int128 kNanosPerUnit = 1'000'000'000;
constexpr Int128 kUnitsPerE27 = Int128(1'000'000'000'000'000) * 1'000'000'000'000;
constexpr Int128 kMaxNano = kUnitsPerE27 * kNanosPerUnit;
constexpr Int128 kMaxBinaryNano = Int128(std::numeric_limits<std::int64_t>::max()) * kNanosPerUnit;

struct DecimalSuffix {
    std::string_view text;
    int exponent;
};
constexpr std::array kDecimalSuffixes{
    DecimalSuffix{"n", -9}, DecimalSuffix{"u", -6}, DecimalSuffix{"m", -3}, DecimalSuffix{"", 0},
    DecimalSuffix{"k", 3},  DecimalSuffix{"M", 6},  DecimalSuffix{"G", 9},  DecimalSuffix{"T", 12},
    DecimalSuffix{"P", 15}, DecimalSuffix{"E", 18}};
// Of 2^10, 2^20, ...
constexpr std::array<std::string_view, 6> kBinarySuffixes{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

struct Suffix {
    Format format = Format::kDecimalSi;
    int exponent = 0;  ///< of ten, or of two for kBinarySi
};

std::optional<Suffix> read_suffix(std::string_view text) {
    for (const DecimalSuffix& suffix : kDecimalSuffixes)
        if (suffix.text == text) return Suffix{Format::kDecimalSi, suffix.exponent};
    for (std::size_t i = 0; i < kBinarySuffixes.size(); ++i)
        if (kBinarySuffixes[i] == text)
            return Suffix{Format::kBinarySi, 10 * static_cast<int>(i + 1)};
    if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
    text.remove_prefix(1);
    if (text[0] == '+') {
        text.remove_prefix(1);
        if (text.starts_with('-')) return std::nullopt;
    }
    const auto exponent = parse_number<std::int32_t>(text);
    if (!exponent) return std::nullopt;
    return Suffix{Format::kDecimalExponent, *exponent};
}

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

/// A number without sign as its digits: `digits` * 10^-`decimals`, without needless zeros.
struct Digits {
    std::string digits;
    std::int64_t decimals = 0;
};

/// Removes the number from the front of `text`; nullopt if there is none.
std::optional<Digits> read_digits(std::string_view& text) {
    Digits number;
    bool point = false;
    std::size_t i = 0;
    for (; i < text.size() && (is_decimal_digit(text[i]) || (text[i] == '.' && !point)); ++i) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        number.digits += text[i];
        if (point) ++number.decimals;
    }
    text.remove_prefix(i);
    if (number.digits.empty()) return std::nullopt;
    while (number.decimals > 0 && number.digits.back() == '0') {
        number.digits.pop_back();
        --number.decimals;
    }
    number.digits.erase(0, number.digits.find_first_not_of('0'));
    return number;
}

/// The number times 10^exponent in nanos, rounded up; nullopt beyond the range.
std::optional<Int128> scale_decimal(const Digits& number, int exponent) {
    if (number.digits.empty()) return 0;
    constexpr std::int64_t kMaxDigits = 37;  // of 10^36 nanos
    const std::int64_t shift = 9 + std::int64_t{exponent} - number.decimals;
    const std::int64_t kept = static_cast<std::int64_t>(number.digits.size()) + shift;
    if (kept > kMaxDigits) return std::nullopt;
    Int128 nano = 0;
    for (std::int64_t i = 0; i < kept; ++i) {
        const auto at = static_cast<std::size_t>(i);
        nano = nano * 10 + (at < number.digits.size() ? number.digits[at] - '0' : 0);
    }
    const std::string_view digits = number.digits;
    const bool exact =
        shift >= 0 || digits.substr(static_cast<std::size_t>(std::max<std::int64_t>(kept, 0)))
                              .find_first_not_of('0') == std::string_view::npos;
    if (!exact) ++nano;
    if (nano > kMaxNano) return std::nullopt;
    return nano;
}

/// The number times 2^exponent in nanos, rounded up and capped.
Int128 scale_binary(const Digits& number, int exponent) {
    const Int128 unit = (Int128(1) << exponent) * kNanosPerUnit;
    const auto digits = static_cast<std::int64_t>(number.digits.size());
    const std::int64_t whole_digits = digits - number.decimals;
    // Digits of the fraction from the right: each step divides by ten and keeps the integer part.
    // floor((d + x) / 10) is floor((d + floor(x)) / 10) for an integer d, so nothing is lost except
    // whether there was a remainder.
    Int128 fraction = 0;
    bool rest = false;
    for (std::int64_t i = digits - 1; i >= std::max<std::int64_t>(whole_digits, 0); --i) {
        fraction += (number.digits[static_cast<std::size_t>(i)] - '0') * unit;
        rest = rest || fraction % 10 != 0;
        fraction /= 10;
    }
    for (std::int64_t i = whole_digits; i < 0; ++i) {  // zeros right of the point
        rest = rest || fraction % 10 != 0;
        fraction /= 10;
        if (fraction == 0) break;
    }
    if (rest) ++fraction;

    Int128 whole = 0;
    for (std::int64_t i = 0; i < whole_digits; ++i) {
        whole = whole * 10 + (number.digits[static_cast<std::size_t>(i)] - '0');
        if (whole > kMaxBinaryNano / unit) return kMaxBinaryNano;
    }
    return std::min(whole * unit + fraction, kMaxBinaryNano);
}

std::string decimal_text(Int128 value) {
    std::string text;
    const bool negative = value < 0;
    do {
        const int digit = static_cast<int>(value % 10);
        text += static_cast<char>('0' + (digit < 0 ? -digit : digit));
        value /= 10;
    } while (value != 0);
    if (negative) text += '-';
    std::reverse(text.begin(), text.end());
    return text;
}

Error not_a_quantity(std::string_view text, std::string_view why) {
    constexpr std::size_t kLongest = 64;
    std::string shown(text.substr(0, kLongest));
    if (text.size() > kLongest) shown += "...";
    return Error(Code::kInvalid, fmt::format("\"{}\" is not a quantity: {}", shown, why));
}

std::int64_t saturate(Int128 value) {
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<Int128>(value, Limits::min(), Limits::max()));
}

}  // namespace

Quantity Quantity::from_units(std::int64_t units, Format format) {
    return Quantity(Int128(units) * kNanosPerUnit, format);
}

Quantity Quantity::from_milli(std::int64_t milli) {
    return Quantity(Int128(milli) * (kNanosPerUnit / 1000), Format::kDecimalSi);
}

Result<Quantity> Quantity::parse(std::string_view text) {
    std::string_view left = text;
    const bool negative = !left.empty() && left[0] == '-';
    if (negative || (!left.empty() && left[0] == '+')) left.remove_prefix(1);
    const std::optional<Digits> number = read_digits(left);
    if (!number)
        return not_a_quantity(
            text, "write a number, with a unit if it needs one, such as 500m, 2 or 1.5Gi");
    const std::optional<Suffix> suffix = read_suffix(left);
    if (!suffix)
        return not_a_quantity(
            text, fmt::format("unable to parse the quantity's suffix \"{}\"; use n, u, m, k, M, G, "
                              "T, P, E, or Ki, Mi, Gi, Ti, Pi, Ei, or an exponent such as e3",
                              left.substr(0, 16)));

    Format format = suffix->format;
    Nano nano = 0;
    if (format == Format::kBinarySi) {
        nano = scale_binary(*number, suffix->exponent);
        // Less than one can't be written in binary units.
        if (nano > 0 && nano < kNanosPerUnit) format = Format::kDecimalSi;
    } else {
        const std::optional<Nano> scaled = scale_decimal(*number, suffix->exponent);
        if (!scaled) return not_a_quantity(text, "it is larger than 10^27");
        nano = *scaled;
    }
    return Quantity(negative ? -nano : nano, format);
}

Result<Quantity> Quantity::parse_json(const json::value& value) {
    if (value.is_null()) return Quantity();
    if (const json::string* text = value.if_string()) return parse(trimmed(*text, " \t\r\n"));
    if (const double* number = value.if_double()) {
        if (!std::isfinite(*number))
            return not_a_quantity(fmt::format("{}", *number), "it must be finite");
        return parse(fmt::format("{}", *number));
    }
    if (value.is_int64()) return from_units(value.get_int64());
    if (value.is_uint64()) return parse(fmt::format("{}", value.get_uint64()));
    return Error(Code::kInvalid,
                 "a quantity must be a string or a number, such as 500m, 2 or 1.5Gi");
}

std::int64_t Quantity::ceil_to(Nano unit) const {
    const Nano away = nano_ < 0 ? -(unit - 1) : unit - 1;
    return saturate((nano_ + away) / unit);
}

std::int64_t Quantity::ceil_units() const { return ceil_to(kNanosPerUnit); }
std::int64_t Quantity::ceil_milli() const { return ceil_to(kNanosPerUnit / 1000); }

Quantity Quantity::add(Nano nano, Format format) const {
    return Quantity(std::clamp<Nano>(nano_ + nano, -kMaxNano, kMaxNano),
                    is_zero() ? format : format_);
}

double Quantity::approximate_multiple(int exponent) const {
    if (nano_ == 0) return 0;  // whatever the exponent, which "0e2147483647" has
    Nano unit = 1;
    for (int i = -9; i < exponent; ++i) unit *= 10;
    return static_cast<double>(nano_ / unit);
}

std::string Quantity::to_string() const {
    if (nano_ == 0) return "0";
    // Below 1024 binary suffixes have no use, and they can't express a fraction.
    const bool binary = format_ == Format::kBinarySi && nano_ % kNanosPerUnit == 0 &&
                        (nano_ >= 1024 * kNanosPerUnit || nano_ <= -1024 * kNanosPerUnit);
    if (binary) {
        Nano value = nano_ / kNanosPerUnit;
        std::size_t suffix = 0;
        for (; value % 1024 == 0 && suffix < kBinarySuffixes.size(); ++suffix) value /= 1024;
        std::string text = decimal_text(value);
        if (suffix > 0) text += kBinarySuffixes[suffix - 1];
        return text;
    }

    Nano value = nano_;
    int exponent = -9;
    const int largest = format_ == Format::kDecimalExponent ? 27 : kDecimalSuffixes.back().exponent;
    while (value % 1000 == 0 && exponent < largest) {
        value /= 1000;
        exponent += 3;
    }
    std::string text = decimal_text(value);
    if (format_ == Format::kDecimalExponent)
        return exponent == 0 ? text : fmt::format("{}e{}", text, exponent);
    for (const DecimalSuffix& suffix : kDecimalSuffixes)
        if (suffix.exponent == exponent) text += suffix.text;
    return text;
}

}  // namespace muster::kube
