#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "cel/value.h"

namespace muster::cel {

/// "1h30m", "-1.5s", "0": as Go's time.ParseDuration reads it.
std::optional<Duration> parse_duration(std::string_view text);
/// "1.5s": seconds with as many digits as it takes.
std::string duration_text(Duration duration);

/// RFC 3339 as Go reads it, from the year 1 to 9999.
std::optional<Timestamp> parse_timestamp(std::string_view text);
/// "2026-01-02".
std::optional<Timestamp> parse_date(std::string_view text);
std::string timestamp_text(Timestamp time);

constexpr std::int64_t kFirstSecond = -62135596800;  ///< of the year 1
constexpr std::int64_t kLastSecond = 253402300799;   ///< of the year 9999

/// The clock of a place at a moment.
struct CivilTime {
    int year = 0;
    int month = 0;        ///< 0 to 11
    int day = 0;          ///< 1 to 31
    int day_of_year = 0;  ///< 0 to 365
    int weekday = 0;      ///< 0: Sunday
    int hour = 0;
    int minute = 0;
    int second = 0;
    int millisecond = 0;
};
/// `zone`: "" or "UTC", an offset ("-08:00"), or a name of the machine's time zones; the reason in
/// Go's words for any other.
std::expected<CivilTime, std::string> civil_time(Timestamp time, std::string_view zone);

}  // namespace muster::cel
