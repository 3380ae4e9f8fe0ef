#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::kube {

/// What the clocks of a time zone show. A value; UTC unless it is read from a file.
class TimeZone {
  public:
    TimeZone() = default;
    /// The content of a file of the zoneinfo database (RFC 8536); nullopt for another file.
    static std::optional<TimeZone> parse(std::string_view file);

    /// East of UTC.
    std::chrono::seconds offset(std::chrono::sys_seconds at) const;

  private:
    /// A day of each year on which the clocks are changed, as in POSIX's TZ.
    struct YearlyChange {
        enum class Kind : std::uint8_t { kWeekday, kDayWithoutLeap, kDay };
        Kind kind = Kind::kWeekday;
        unsigned month = 1;
        unsigned week = 1;  ///< 5: the last
        unsigned day = 0;   ///< of the week, or of the year
        std::chrono::seconds time{};

        /// By the clocks that are changed.
        std::chrono::seconds in_year(int year) const;
    };
    /// What holds after the last change that the file lists.
    struct Rule {
        std::chrono::seconds standard{};
        std::chrono::seconds summer{};
        std::optional<YearlyChange> begins;  ///< of summer time, if there is any
        std::optional<YearlyChange> ends;

        std::chrono::seconds offset(std::chrono::sys_seconds at) const;
    };
    friend class PosixRuleReader;

    struct Change {
        std::int64_t at = 0;
        std::int64_t offset = 0;
    };
    std::int64_t first_offset_ = 0;
    std::vector<Change> changes_;  ///< in order
    std::optional<Rule> rule_;
};

/// The zone of that name ("Europe/Berlin") as this machine knows it; nullopt if it does not.
std::optional<TimeZone> find_time_zone(std::string_view name);
/// The zone of this machine's own clocks.
TimeZone local_time_zone();

}  // namespace muster::kube
