#include "cel/internal/library/format_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/parse_number.h"
#include "base/utf8.h"
#include "cel/internal/characters.h"
#include "cel/internal/implementations.h"
#include "cel/internal/library/format_clauses.h"
#include "cel/internal/numbers_text.h"
#include "cel/internal/time_text.h"

namespace muster::cel {
namespace {

using Formatted = std::expected<std::string, std::string>;

constexpr int kDefaultPrecision = 6;

std::unexpected<std::string> unfit(char letter, const Value& value) {
    return std::unexpected(unfit_argument(letter, value.type_name()));
}

std::optional<double> number_of(const Value& value) {
    if (const double* number = value.as<double>()) return *number;
    const Text* text = value.string();
    const bool named = text && (text->view() == "NaN" || text->view() == "Infinity" ||
                                text->view() == "-Infinity");
    return named ? parse_double(text->view()) : std::nullopt;
}

/// As the printer of the English locale has it, but for %s.
double without_sign_of_zero(double number) { return number == 0 ? 0 : number; }

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
    if (!number) return unfit('f', value);
    if (!std::isfinite(*number)) return special_text(*number);
    return grouped(fmt::format("{:.{}f}", without_sign_of_zero(*number), precision));
}

/// "1.5e+02" is "1.5\u00d710\u2070\u00b2" in that locale.
std::string with_raised_exponent(std::string_view number) {
    static constexpr std::string_view kDigits[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3",
                                                   "\u2074", "\u2075", "\u2076", "\u2077",
                                                   "\u2078", "\u2079"};
    const std::size_t mark = number.find('e');
    std::string text = std::string(number.substr(0, mark)) + "\u00d710";
    if (number[mark + 1] == '-') text += "\u207b";
    for (char digit : number.substr(mark + 2)) text += kDigits[digit - '0'];
    return text;
}

/// As in cel-go the precision is taken for the least width: there are always six digits.
Formatted scientific(const Value& value, int width) {
    const std::optional<double> number = number_of(value);
    if (!number) return unfit('e', value);
    const std::string text = std::isfinite(*number)
                                 ? with_raised_exponent(fmt::format(
                                       "{:.{}e}", without_sign_of_zero(*number), kDefaultPrecision))
                                 : special_text(*number);
    const auto is_begin = [](char byte) { return (byte & 0xc0) != 0x80; };
    const auto characters = std::ranges::count_if(text, is_begin);
    return std::string(static_cast<std::size_t>(std::max<long>(0, width - characters)), ' ') + text;
}

Formatted decimal(const Value& value) {
    if (const auto* number = value.as<std::int64_t>()) return fmt::format("{}", *number);
    if (const auto* number = value.as<std::uint64_t>()) return fmt::format("{}", *number);
    return unfit('d', value);
}

Formatted binary(const Value& value) {
    if (const auto* number = value.as<std::int64_t>()) return fmt::format("{:b}", *number);
    if (const auto* number = value.as<std::uint64_t>()) return fmt::format("{:b}", *number);
    if (const bool* flag = value.as<bool>()) return std::string(*flag ? "1" : "0");
    return unfit('b', value);
}

Formatted octal(const Value& value) {
    if (const auto* number = value.as<std::int64_t>()) return fmt::format("{:o}", *number);
    if (const auto* number = value.as<std::uint64_t>()) return fmt::format("{:o}", *number);
    return unfit('o', value);
}

Formatted hex(const Value& value, bool upper) {
    auto digits = [&](auto number) {
        return upper ? fmt::format("{:X}", number) : fmt::format("{:x}", number);
    };
    if (const auto* number = value.as<std::int64_t>()) return digits(*number);
    if (const auto* number = value.as<std::uint64_t>()) return digits(*number);
    const Text* text = value.string();
    if (const Bytes* bytes = value.as<Bytes>()) text = &bytes->text;
    if (text == nullptr) return unfit('x', value);
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
    if (std::optional<std::string> literal = quoted_literal(value)) return *std::move(literal);
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
    return unfit('s', value);
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
            return std::unexpected(unknown_clause(letter));
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
    FormatReader reader(format);
    for (std::size_t next = 0;; ++next) {
        const auto found = reader.next(text);
        if (!found) return std::unexpected(found.error());
        if (!*found) return text;
        if (next >= arguments.size()) return std::unexpected(missing_argument(next));
        const Formatted filled = clause((*found)->letter, arguments.at(next), (*found)->precision);
        if (!filled) return filled;
        text += *filled;
        if (text.size() > kLongestResult)
            return std::unexpected(cost_limit_exceeded().error().text);
    }
}

std::optional<std::string> quoted_literal(const Value& value) {
    if (const Text* text = value.string()) return quoted_text(text->view());
    if (const Bytes* bytes = value.as<Bytes>()) return "b" + quoted_text(bytes->text.view());
    if (const auto* time = value.as<Timestamp>())
        return fmt::format("timestamp(\"{}\")", timestamp_text(*time));
    if (const auto* duration = value.as<Duration>())
        return fmt::format("duration(\"{}\")", duration_text(*duration));
    return std::nullopt;
}

}  // namespace muster::cel
