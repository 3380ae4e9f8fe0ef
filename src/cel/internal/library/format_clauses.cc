#include "cel/internal/library/format_clauses.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "cel/internal/characters.h"

namespace muster::cel {
namespace {

/// More digits than any number has; upstream has no limit.
constexpr int kMostPrecision = 1000;

/// What stands between '%' and the letter of a clause.
std::optional<int> take_precision(std::string_view& rest) {
    if (!rest.starts_with('.')) return std::nullopt;
    std::size_t digits = 1;
    while (digits < rest.size() && is_digit(rest[digits])) ++digits;
    const auto number = parse_number<int>(rest.substr(1, digits - 1));
    rest.remove_prefix(digits);
    return number.value_or(kMostPrecision + 1);
}

std::string only_on(std::string_view clause, std::string_view types, std::string_view type) {
    return fmt::format("{} clause can only be used on {}, was given {}", clause, types, type);
}

std::string reason_for(char letter, std::string_view type) {
    switch (letter) {
        case 'd':
            return only_on("decimal", "integers", type);
        case 'f':
            return only_on("fixed-point", "doubles", type);
        case 'e':
            return only_on("scientific", "doubles", type);
        case 'o':
            return only_on("octal", "integers", type);
        case 'b':
            return fmt::format("only integers and bools can be formatted as binary, was given {}",
                               type);
        case 'x':
        case 'X':
            return fmt::format(
                "only integers, byte buffers, and strings can be formatted as hex, was given {}",
                type);
        default:
            return only_on("string",
                           "strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
                           "and timestamps",
                           type);
    }
}

}  // namespace

std::expected<std::optional<FormatClause>, std::string> FormatReader::next(std::string& text) {
    for (;;) {
        const std::size_t mark = rest_.find('%');
        text += rest_.substr(0, mark);
        if (mark == rest_.npos) return std::nullopt;
        rest_.remove_prefix(mark + 1);
        if (!rest_.starts_with('%')) break;
        text += '%';
        rest_.remove_prefix(1);
    }
    const std::optional<int> precision = take_precision(rest_);
    if (rest_.empty()) return std::unexpected("unexpected end of string");
    if (precision && *precision > kMostPrecision)
        return std::unexpected("could not parse formatting clause: error while parsing precision");
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    return FormatClause{letter, precision};
}

std::string unknown_clause(char letter) {
    return fmt::format("could not parse formatting clause: unrecognized formatting clause \"{}\"",
                       letter);
}

std::string missing_argument(std::size_t index) {
    return fmt::format("index {} out of range", index);
}

std::string unfit_argument(char letter, std::string_view type) {
    return "error during formatting: " + reason_for(letter, type);
}

}  // namespace muster::cel
