#include "cel/internal/time_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "base/parse_number.h"
#include "cel/internal/characters.h"
#include "cel/internal/time_zone.h"
#include "kube/values/go_quote.h"

namespace muster::cel {
namespace {

constexpr std::int64_t kNano = 1'000'000'000;
__extension__ typedef __int128 Wide;

/// Takes the digits at the front.
std::string_view take_digits(std::string_view& text) {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count])) ++count;
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
}

/// Nanoseconds of a unit of Go's durations; takes its name.
std::int64_t take_unit(std::string_view& text) {
    constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> kUnits{{
        {"ns", 1},
        {"us", 1'000},
        {"\u00b5s", 1'000},
        {"\u03bcs", 1'000},
        {"ms", 1'000'000},
        {"s", kNano},
        {"m", 60 * kNano},
        {"h", 3600 * kNano},
    }};
    for (const auto& [name, nanoseconds] : kUnits) {
        if (!text.starts_with(name)) continue;
        text.remove_prefix(name.size());
        return nanoseconds;
    }
    return 0;
}

/// Two or four digits of a time.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
    if (text.size() < digits) return std::nullopt;
    for (char c : text.substr(0, digits))
        if (!is_digit(c)) return std::nullopt;
    const auto number = parse_number<int>(text.substr(0, digits));
    text.remove_prefix(digits);
    return number;
}
bool take(std::string_view& text, char wanted) {
    if (!text.starts_with(wanted)) return false;
    text.remove_prefix(1);
    return true;
}

/// Seconds of a day that there is.
std::optional<std::int64_t> take_day(std::string_view& text) {
    const auto year = take_number(text, 4);
    if (!year || *year == 0 || !take(text, '-')) return std::nullopt;
    const auto month = take_number(text, 2);
    if (!month || !take(text, '-')) return std::nullopt;
    const auto day = take_number(text, 2);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date).time_since_epoch().count() * std::int64_t{86400};
}

/// Seconds east of UTC: "Z", "+01:30".
std::optional<std::int64_t> take_offset(std::string_view& text) {
    if (take(text, 'Z')) return 0;
    const bool west = text.starts_with('-');
    if (!take(text, west ? '-' : '+')) return std::nullopt;
    const auto hours = take_number(text, 2);
    if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
    const auto minutes = take_number(text, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    const std::int64_t seconds = *hours * 3600 + *minutes * 60;
    return west ? -seconds : seconds;
}

/// Digits of a fraction as nanoseconds; those beyond are cut off.
std::int32_t nanoseconds_of(std::string_view digits) {
    std::int32_t nanoseconds = 0;
    for (std::size_t i = 0; i < 9; ++i)
        nanoseconds = nanoseconds * 10 + (i < digits.size() ? digits[i] - '0' : 0);
    return nanoseconds;
}

/// As Go's strconv.Atoi reads it.
std::expected<std::int64_t, std::string> whole_number(std::string_view text) {
    auto refuse = [&](std::string_view why) {
        return std::unexpected(
            fmt::format("strconv.Atoi: parsing {}: {}", kube::go_quoted(text), why));
    };
    std::string_view digits = text;
    if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
    if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return refuse("invalid syntax");
    const auto number = parse_number<std::int64_t>(text.starts_with('+') ? digits : text);
    if (!number) return refuse("value out of range");
    return *number;
}

/// Seconds east of UTC. cel-go reads "-1:30" and "7:5", too (common/types/timestamp.go).
std::expected<std::int64_t, std::string> offset_at(std::string_view zone, std::int64_t seconds) {
    if (zone.empty() || zone == "UTC") return 0;
    const std::size_t colon = zone.find(':');
    if (colon == zone.npos) {
        const std::optional<std::int64_t> offset = offset_of_zone(zone, seconds);
        if (!offset) return std::unexpected(fmt::format("unknown time zone {}", zone));
        return *offset;
    }
    const auto hours = whole_number(zone.substr(0, colon));
    if (!hours) return hours;
    const auto minutes = whole_number(zone.substr(colon + 1));
    if (!minutes) return minutes;
    // Hours without end wrap around, as nanoseconds of 64 bits.
    const auto east = static_cast<std::uint64_t>(zone.starts_with('-') ? -*minutes : *minutes);
    const std::uint64_t nanoseconds =
        (static_cast<std::uint64_t>(*hours) * 60 + east) * 60 * std::uint64_t{kNano};
    return static_cast<std::int64_t>(nanoseconds) / kNano;
}

std::string fraction_text(std::int64_t nanoseconds) {
    if (nanoseconds == 0) return {};
    std::string digits = fmt::format(".{:09}", nanoseconds);
    digits.erase(digits.find_last_not_of('0') + 1);
    return digits;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text == "0") return Duration{};
    if (text.empty()) return std::nullopt;
    Wide total = 0;
    constexpr Wide kMost = Wide{std::numeric_limits<std::int64_t>::max()} + 1;
    while (!text.empty()) {
        const std::string_view whole = take_digits(text);
        std::string_view fraction;
        if (take(text, '.')) fraction = take_digits(text);
        if (whole.empty() && fraction.empty()) return std::nullopt;
        const std::int64_t unit = take_unit(text);
        if (unit == 0) return std::nullopt;
        const auto number = whole.empty() ? 0 : parse_number<std::int64_t>(whole);
        if (!number) return std::nullopt;
        total += Wide{*number} * unit;
        Wide numerator = 0;
        Wide denominator = 1;
        for (char digit : fraction.substr(0, 18)) {
            numerator = numerator * 10 + (digit - '0');
            denominator *= 10;
        }
        total += numerator * unit / denominator;
        if (total > kMost) return std::nullopt;
    }
    if (!negative && total == kMost) return std::nullopt;
    return Duration{static_cast<std::int64_t>(negative ? -total : total)};
}

std::string duration_text(Duration duration) {
    const bool negative = duration.nanoseconds < 0;
    const Wide size = negative ? -Wide{duration.nanoseconds} : Wide{duration.nanoseconds};
    return fmt::format("{}{}{}s", negative ? "-" : "", static_cast<std::int64_t>(size / kNano),
                       fraction_text(static_cast<std::int64_t>(size % kNano)));
}

std::optional<Timestamp> parse_timestamp(std::string_view text) {
    const auto day = take_day(text);
    if (!day || !take(text, 'T')) return std::nullopt;
    const auto hours = take_number(text, 2);
    if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
    const auto minutes = take_number(text, 2);
    if (!minutes || *minutes > 59 || !take(text, ':')) return std::nullopt;
    const auto seconds = take_number(text, 2);
    if (!seconds || *seconds > 59) return std::nullopt;
    std::string_view fraction;
    if (take(text, '.')) {
        fraction = take_digits(text);
        if (fraction.empty()) return std::nullopt;
    }
    const auto offset = take_offset(text);
    if (!offset || !text.empty()) return std::nullopt;
    const Timestamp time{*day + *hours * 3600 + *minutes * 60 + *seconds - *offset,
                         nanoseconds_of(fraction)};
    if (time.seconds < kFirstSecond || time.seconds > kLastSecond) return std::nullopt;
    return time;
}

std::optional<Timestamp> parse_date(std::string_view text) {
    const auto day = take_day(text);
    if (!day || !text.empty()) return std::nullopt;
    return Timestamp{*day, 0};
}

std::string timestamp_text(Timestamp time) {
    const CivilTime at = civil_time(time, "UTC").value();
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", at.year, at.month + 1, at.day,
                       at.hour, at.minute, at.second, fraction_text(time.nanoseconds));
}

std::expected<CivilTime, std::string> civil_time(Timestamp time, std::string_view zone) {
    const std::expected<std::int64_t, std::string> offset = offset_at(zone, time.seconds);
    if (!offset) return std::unexpected(offset.error());
    const std::int64_t local = time.seconds + *offset;
    const std::int64_t days = (local >= 0 ? local : local - 86399) / 86400;
    const std::chrono::sys_days date{std::chrono::days(days)};
    const std::chrono::year_month_day civil{date};
    const std::chrono::sys_days new_year{civil.year() / std::chrono::January / 1};
    const auto second_of_day = static_cast<int>(local - days * 86400);
    return CivilTime{
        .year = static_cast<int>(civil.year()),
        .month = static_cast<int>(static_cast<unsigned>(civil.month())) - 1,
        .day = static_cast<int>(static_cast<unsigned>(civil.day())),
        .day_of_year = static_cast<int>((date - new_year).count()),
        .weekday = static_cast<int>(std::chrono::weekday(date).c_encoding()),
        .hour = second_of_day / 3600,
        .minute = second_of_day / 60 % 60,
        .second = second_of_day % 60,
        .millisecond = time.nanoseconds / 1'000'000,
    };
}

}  // namespace muster::cel
