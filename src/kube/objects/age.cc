#include "kube/objects/age.h"

#include <fmt/format.h>

#include "kube/values/time.h"

namespace muster::kube {

namespace {

/// "3h" or "3h20m": the smaller unit only if it is not zero.
std::string two_units(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
    if (small == 0) return fmt::format("{}{}", large, large_unit);
    return fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

std::chrono::seconds span_between(WallTime from, WallTime to) {
    // Nanoseconds can't hold the difference of any two times.
    return std::chrono::floor<std::chrono::seconds>(to) -
           std::chrono::floor<std::chrono::seconds>(from);
}

std::string duration_text(std::chrono::seconds span) {
    const std::int64_t seconds = span.count();
    const std::int64_t minutes = seconds / 60;
    const std::int64_t hours = minutes / 60;
    const std::int64_t days = hours / 24;
    const std::int64_t years = days / 365;
    // Clocks of two machines may differ a little.
    if (seconds < -1) return "<invalid>";
    if (seconds < 0) return "0s";
    if (seconds < 120) return fmt::format("{}s", seconds);
    if (minutes < 10) return two_units(minutes, 'm', seconds % 60, 's');
    if (hours < 3) return fmt::format("{}m", minutes);
    if (hours < 8) return two_units(hours, 'h', minutes % 60, 'm');
    if (hours < 48) return fmt::format("{}h", hours);
    if (days < 8) return two_units(days, 'd', hours % 24, 'h');
    if (years < 2) return fmt::format("{}d", days);
    if (years < 8) return two_units(years, 'y', days % 365, 'd');
    return fmt::format("{}y", years);
}

std::string age_text(std::string_view timestamp, WallTime now) {
    if (timestamp.empty()) return "<unknown>";
    const std::optional<WallTime> time = parse_time(timestamp);
    if (!time) return "<invalid>";
    return duration_text(span_between(*time, now));
}

}  // namespace muster::kube
