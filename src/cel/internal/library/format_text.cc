#include "cel/internal/library/format_text.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

#include "base/parse_number.h"
#include "base/utf8.h"
#include "cel/internal/characters.h"
#include "cel/internal/implementations.h"
#include "cel/internal/numbers_text.h"
#include "cel/internal/time_text.h"

namespace muster::cel {
namespace {

using Formatted = std::expected<std::string, std::string>;

constexpr int kDefaultPrecision = 6;
constexpr int kMostPrecision = 1000;

std::unexpected<std::string> unfit(std::string_view clause, std::string_view wanted,
                                   const Value& value) {
    return std::unexpected(
        fmt::format("error during formatting: {} clause can only be used on {}, was given {}",
                    clause, wanted, value.type_name()));
}

std::optional<double> number_of(const Value& value) {
    if (const double* number = value.as<double>()) return *number;
    const Text* text = value.string();
    const bool named = text && (text->view() == "NaN" || text->view() == "Infinity" ||
                                text->view() == "-Infinity");
    return named ? parse_double(text->view()) : std::nullopt;
}

/// The number without its fraction, with a comma before each three digits, as the printer of the
/// English locale writes it.
std::string grouped(std::string number) {
    const std::size_t sign = number.starts_with('-') ? 1 : 0;
    std::size_t end = number.find('.');
    if (end == number.npos) end = number.size();
    for (std::size_t at = end; at > sign + 3;) {
        at -= 3;
        number.insert(at, 1, ',');
    }
    return number;
}

std::string special_text(double number) {
    if (std::isnan(number)) return "NaN";
    return number > 0 ? "\u221e" : "-\u221e";
}

Formatted fixed(const Value& value, int precision) {
    const std::optional<double> number = number_of(value);
    if (!number) return unfit("fixed-point", "doubles", value);
    if (!std::isfinite(*number)) return special_text(*number);
    return grouped(fmt::format("{:.{}f}", *number, precision));
}

Formatted scientific(const Value& value, int precision) {
    const std::optional<double> number = number_of(value);
    if (!number) return unfit("scientific", "doubles", value);
    if (!std::isfinite(*number)) return special_text(*number);
    // "1.5e+02" is "1.5\u202f\u00d7\u202f10\u2070\u00b2" in that locale.
    std::string plain = fmt::format("{:.{}e}", *number, precision);
    const std::size_t mark = plain.find('e');
    static constexpr std::string_view kDigits[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3",
                                                   "\u2074", "\u2075", "\u2076", "\u2077",
                                                   "\u2078", "\u2079"};
    std::string text = plain.substr(0, mark) + "\u202f\u00d7\u202f10";
    if (plain[mark + 1] == '-') text += "\u207b";
    for (char digit : std::string_view(plain).substr(mark + 2)) text += kDigits[digit - '0'];
    return text;
}

Formatted decimal(const Value& value) {
    if (const auto* number = value.as<std::int64_t>()) return fmt::format("{}", *number);
    if (const auto* number = value.as<std::uint64_t>()) return fmt::format("{}", *number);
    return unfit("decimal", "integers", value);
}

Formatted binary(const Value& value) {
    if (const auto* number = value.as<std::int64_t>()) return fmt::format("{:b}", *number);
    if (const auto* number = value.as<std::uint64_t>()) return fmt::format("{:b}", *number);
    if (const bool* flag = value.as<bool>()) return std::string(*flag ? "1" : "0");
    return unfit("binary", "integers and bools", value);
}

Formatted octal(const Value& value) {
    if (const auto* number = value.as<std::int64_t>()) return fmt::format("{:o}", *number);
    if (const auto* number = value.as<std::uint64_t>()) return fmt::format("{:o}", *number);
    return unfit("octal", "integers", value);
}

Formatted hex(const Value& value, bool upper) {
    auto digits = [&](auto number) {
        return upper ? fmt::format("{:X}", number) : fmt::format("{:x}", number);
    };
    if (const auto* number = value.as<std::int64_t>()) return digits(*number);
    if (const auto* number = value.as<std::uint64_t>()) return digits(*number);
    const Text* text = value.string();
    if (const Bytes* bytes = value.as<Bytes>()) text = &bytes->text;
    if (text == nullptr) return unfit("hex", "integers, byte buffers, and strings", value);
    std::string all;
    for (char c : text->view()) {
        const auto byte = static_cast<unsigned char>(c);
        all += upper ? fmt::format("{:02X}", byte) : fmt::format("{:02x}", byte);
    }
    return all;
}

Formatted plain(const Value& value);

/// As it stands in a list or a map: a literal of CEL.
Formatted element(const Value& value) {
    if (const Text* text = value.string()) return quoted_text(text->view());
    if (const Bytes* bytes = value.as<Bytes>()) return "b" + quoted_text(bytes->text.view());
    if (const auto* time = value.as<Timestamp>())
        return fmt::format("timestamp(\"{}\")", timestamp_text(*time));
    if (const auto* duration = value.as<Duration>())
        return fmt::format("duration(\"{}\")", duration_text(*duration));
    if (const double* number = value.as<double>()) {
        if (std::isnan(*number)) return "\"NaN\"";
        if (std::isinf(*number)) return *number > 0 ? "\"+Inf\"" : "\"-Inf\"";
        return fmt::format("{:.{}f}", *number, kDefaultPrecision);
    }
    return plain(value);
}

Formatted list_text(const List& list) {
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Formatted each = element(list.at(i));
        if (!each) return each;
        if (i > 0) text += ", ";
        text += *each;
        if (text.size() > kLongestResult)
            return std::unexpected(cost_limit_exceeded().error().text);
    }
    return text + "]";
}

Formatted map_text(const Map& map) {
    std::map<std::string, std::string> sorted;
    std::optional<std::string> problem;
    map.for_each([&](const Value& key, const Value& value) {
        Formatted name = element(key);
        Formatted held = element(value);
        if (!name) problem = name.error();
        if (!held) problem = held.error();
        if (!problem) sorted.emplace(*std::move(name), *std::move(held));
        return !problem;
    });
    if (problem) return std::unexpected(*problem);
    std::string text = "{";
    for (const auto& [key, value] : sorted) {
        if (text.size() > 1) text += ", ";
        text += key + ":" + value;
    }
    return text + "}";
}

Formatted plain(const Value& value) {
    if (const List* list = value.list()) return list_text(*list);
    if (const Map* map = value.map(); map && map->type_name().empty()) return map_text(*map);
    if (value.is_null()) return "null";
    if (const Text* text = value.string()) return std::string(text->view());
    if (const Bytes* bytes = value.as<Bytes>()) return as_utf8(bytes->text.view());
    if (const bool* flag = value.as<bool>()) return std::string(*flag ? "true" : "false");
    if (const double* number = value.as<double>()) return double_text(*number);
    if (const auto* time = value.as<Timestamp>()) return timestamp_text(*time);
    if (const auto* duration = value.as<Duration>()) return duration_text(*duration);
    if (const auto* name = value.as<TypeName>()) return name->name;
    if (value.as<std::int64_t>() || value.as<std::uint64_t>()) return decimal(value);
    return unfit("string",
                 "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
                 "timestamps",
                 value);
}

/// What stands between '%' and the letter of a clause.
std::optional<int> take_precision(std::string_view& rest) {
    if (!rest.starts_with('.')) return std::nullopt;
    std::size_t digits = 1;
    while (digits < rest.size() && is_digit(rest[digits])) ++digits;
    const auto number = parse_number<int>(rest.substr(1, digits - 1));
    rest.remove_prefix(digits);
    return number.value_or(kMostPrecision + 1);
}

Formatted clause(char letter, const Value& value, std::optional<int> precision) {
    switch (letter) {
        case 's':
            return plain(value);
        case 'd':
            return decimal(value);
        case 'f':
            return fixed(value, precision.value_or(kDefaultPrecision));
        case 'e':
            return scientific(value, precision.value_or(kDefaultPrecision));
        case 'b':
            return binary(value);
        case 'x':
        case 'X':
            return hex(value, letter == 'X');
        case 'o':
            return octal(value);
        default:
            return std::unexpected(fmt::format(
                "could not parse formatting clause: unrecognized formatting clause \"{}\"",
                letter));
    }
}

}  // namespace

std::string quoted_text(std::string_view text) {
    static constexpr std::string_view kPlain = "\a\b\f\n\r\t\v\\\"";
    static constexpr std::string_view kLetters = "abfnrtv\\\"";
    std::string result = "\"";
    for (char c : as_utf8(text)) {
        const std::size_t found = kPlain.find(c);
        if (found != kPlain.npos) {
            result += '\\';
            result += kLetters[found];
        } else {
            result += c;
        }
    }
    return result + "\"";
}

std::expected<std::string, std::string> format_text(std::string_view format,
                                                    const List& arguments) {
    std::string text;
    std::size_t next = 0;
    while (!format.empty()) {
        const std::size_t mark = format.find('%');
        text += format.substr(0, mark);
        if (mark == format.npos) break;
        format.remove_prefix(mark + 1);
        if (format.empty()) return std::unexpected("unexpected end of string");
        if (format.starts_with('%')) {
            text += '%';
            format.remove_prefix(1);
            continue;
        }
        const std::optional<int> precision = take_precision(format);
        if (format.empty()) return std::unexpected("unexpected end of string");
        if (precision && *precision > kMostPrecision)
            return std::unexpected(
                "could not parse formatting clause: error while parsing precision");
        if (next >= arguments.size())
            return std::unexpected(fmt::format("index {} out of range", next));
        const Formatted filled = clause(format.front(), arguments.at(next), precision);
        if (!filled) return filled;
        text += *filled;
        if (text.size() > kLongestResult)
            return std::unexpected(cost_limit_exceeded().error().text);
        ++next;
        format.remove_prefix(1);
    }
    return text;
}

}  // namespace muster::cel
