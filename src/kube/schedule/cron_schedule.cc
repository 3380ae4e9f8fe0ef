#include "kube/schedule/cron_schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/lower_case.h"
#include "base/parse_number.h"
#include "base/time/duration.h"

namespace muster::kube {

namespace {

using std::chrono::sys_seconds;
using namespace std::chrono_literals;

/// The numbers that a field may have, and their names.
struct Bounds {
    unsigned least;
    unsigned most;
    std::array<std::string_view, 12> names = {};
    unsigned first_name = 0;
};
constexpr Bounds kMinutes{0, 59};
constexpr Bounds kHours{0, 23};
constexpr Bounds kDays{1, 31};
constexpr Bounds kMonths{
    1, 12, {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}, 1};
constexpr Bounds kWeekdays{0, 6, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, 0};

constexpr std::chrono::hours kLongestSearch = 24h * 366 * 5;

Error invalid(std::string message) { return Error(Code::kInvalid, std::move(message)); }

std::vector<std::string_view> split(std::string_view text, std::string_view separators,
                                    bool drop_empty) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find_first_of(separators);
        const std::string_view part = text.substr(0, end);
        if (!drop_empty || !part.empty()) parts.push_back(part);
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

Result<unsigned> read_number(std::string_view text) {
    const auto read = parse_number<std::int64_t>(text.starts_with('+') ? text.substr(1) : text);
    if (!read)
        return invalid(
            fmt::format("failed to parse int from {}: strconv.Atoi: parsing \"{}\": invalid syntax",
                        text, text));
    if (*read < 0) return invalid(fmt::format("negative number ({}) not allowed: {}", *read, text));
    return static_cast<unsigned>(std::min<std::int64_t>(*read, 1'000'000'000));
}

Result<unsigned> read_value(std::string_view text, const Bounds& bounds) {
    const std::string name = lower_case(text);
    for (unsigned i = 0; i < bounds.names.size(); ++i)
        if (!name.empty() && bounds.names[i] == name) return bounds.first_name + i;
    return read_number(text);
}

}  // namespace

/// Reads the fields of a schedule.
class CronReader {
  public:
    using Bits = CronSchedule::Bits;

    static Result<CronSchedule> read(std::string_view text) {
        const std::vector<std::string_view> fields = split(text, " \t\n\v\f\r", true);
        if (fields.size() != 5)
            return invalid(fmt::format("expected exactly 5 fields, found {}: [{}]", fields.size(),
                                       fmt::join(fields, " ")));
        CronSchedule schedule;
        TRY(schedule.minute_, field(fields[0], kMinutes));
        TRY(schedule.hour_, field(fields[1], kHours));
        TRY(schedule.day_, field(fields[2], kDays));
        TRY(schedule.month_, field(fields[3], kMonths));
        TRY(schedule.weekday_, field(fields[4], kWeekdays));
        return schedule;
    }

    static Result<CronSchedule> read_descriptor(std::string_view text) {
        struct Row {
            std::string_view name;
            std::string_view fields;
        };
        constexpr Row kRows[] = {{"@yearly", "0 0 1 1 *"},  {"@annually", "0 0 1 1 *"},
                                 {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
                                 {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
                                 {"@hourly", "0 * * * *"}};
        for (const Row& row : kRows)
            if (text == row.name) return read(row.fields);
        constexpr std::string_view kEvery = "@every ";
        if (!text.starts_with(kEvery))
            return invalid(fmt::format("unrecognized descriptor: {}", text));
        const std::string_view span = text.substr(kEvery.size());
        const bool number_alone = parse_number<std::int64_t>(span).has_value();
        const auto duration = number_alone ? std::nullopt : parse_duration(span);
        if (!duration)
            return invalid(fmt::format("failed to parse duration {}: time: invalid duration \"{}\"",
                                       text, span));
        CronSchedule schedule;
        schedule.every_ = std::max<Duration>(std::chrono::floor<std::chrono::seconds>(*duration),
                                             std::chrono::seconds(1));
        return schedule;
    }

  private:
    static Result<Bits> field(std::string_view text, const Bounds& bounds) {
        Bits all;
        for (const std::string_view part : split(text, ",", true)) {
            TRY(const Bits bits, range(part, bounds));
            all.set |= bits.set;
            all.any = all.any || bits.any;
        }
        return all;
    }

    static Result<Bits> range(std::string_view text, const Bounds& bounds) {
        const std::vector<std::string_view> with_step = split(text, "/", false);
        const std::vector<std::string_view> ends = split(with_step[0], "-", false);
        unsigned first = bounds.least;
        unsigned last = bounds.most;
        Bits bits;
        bits.any = ends[0] == "*" || ends[0] == "?";
        if (!bits.any) {
            TRY(first, read_value(ends[0], bounds));
            last = first;
            if (ends.size() > 2) return invalid(fmt::format("too many hyphens: {}", text));
            if (ends.size() == 2) {
                TRY(last, read_value(ends[1], bounds));
            }
        }
        unsigned step = 1;
        if (with_step.size() > 2) return invalid(fmt::format("too many slashes: {}", text));
        if (with_step.size() == 2) {
            TRY(step, read_number(with_step[1]));
            if (ends.size() == 1) last = bounds.most;
            if (step > 1) bits.any = false;
        }
        if (first < bounds.least)
            return invalid(fmt::format("beginning of range ({}) below minimum ({}): {}", first,
                                       bounds.least, text));
        if (last > bounds.most)
            return invalid(
                fmt::format("end of range ({}) above maximum ({}): {}", last, bounds.most, text));
        if (first > last)
            return invalid(fmt::format("beginning of range ({}) beyond end of range ({}): {}",
                                       first, last, text));
        if (step == 0)
            return invalid(fmt::format("step of range should be a positive number: {}", text));
        for (unsigned value = first; value <= last; value += step)
            bits.set |= std::uint64_t{1} << value;
        return bits;
    }
};

Result<CronSchedule> CronSchedule::parse(std::string_view text) {
    if (text.empty()) return invalid("empty spec string");
    if (text.starts_with('@')) return CronReader::read_descriptor(text);
    return CronReader::read(text);
}

bool CronSchedule::is_day(std::chrono::year_month_day date) const {
    const bool of_month = day_.has(static_cast<unsigned>(date.day()));
    const std::chrono::weekday weekday{std::chrono::sys_days(date)};
    const bool of_week = weekday_.has(weekday.c_encoding());
    // If both are restricted, one of them is enough.
    return day_.any || weekday_.any ? of_month && of_week : of_month || of_week;
}

/// Goes forward by hours and minutes of the clocks' own time, and over days that do not count by
/// most of them: so no hour is missed on days on which the clocks are changed.
std::optional<WallTime> CronSchedule::next(WallTime after, const TimeZone& zone) const {
    if (every_) return std::chrono::floor<std::chrono::seconds>(after) + *every_;
    constexpr auto kWholeDay = 24h;
    constexpr auto kChange = 3h;  // clocks are never changed by more
    sys_seconds at = std::chrono::floor<std::chrono::minutes>(after) + 1min;
    const sys_seconds never = at + kLongestSearch;
    while (at < never) {
        const sys_seconds local = at + zone.offset(at);
        const auto midnight = std::chrono::floor<std::chrono::days>(local);
        const std::chrono::year_month_day date(midnight);
        const auto since_midnight = local - midnight;
        const auto to_hour = 1h - since_midnight % 1h;
        const std::chrono::hh_mm_ss clock(since_midnight);
        if (!month_.has(static_cast<unsigned>(date.month())) || !is_day(date)) {
            const auto left = kWholeDay - since_midnight;
            at += left > kChange + 1h ? left - kChange : to_hour;
        } else if (!hour_.has(static_cast<unsigned>(clock.hours().count()))) {
            at += to_hour;
        } else if (!minute_.has(static_cast<unsigned>(clock.minutes().count()))) {
            at += 1min - since_midnight % 1min;
        } else {
            return at;
        }
    }
    return std::nullopt;
}

/// Looks in ever longer times before `now`: what it costs does not depend on how long ago `after`
/// was.
std::optional<WallTime> CronSchedule::last(WallTime after, WallTime now,
                                           const TimeZone& zone) const {
    if (now <= after) return std::nullopt;
    if (every_) {
        const WallTime first = std::chrono::floor<std::chrono::seconds>(after) + *every_;
        if (first > now) return std::nullopt;
        return first + (now - first) / *every_ * *every_;
    }
    // Whoever may write the status says how long ago the last one was.
    after = std::max<WallTime>(after, now - kLongestSearch);
    for (Duration back = 1min;; back *= 24) {
        const bool whole = now - after <= back;
        std::optional<WallTime> found = next(whole ? after : now - back, zone);
        if (found && *found <= now) {
            for (std::optional<WallTime> later = found; later && *later <= now;
                 later = next(*later, zone))
                found = later;
            return found;
        }
        if (whole || !found) return std::nullopt;
    }
}

}  // namespace muster::kube
