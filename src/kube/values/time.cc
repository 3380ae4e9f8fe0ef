#include "kube/values/time.h"

#include <chrono>

#include "base/time/rfc3339.h"

namespace muster::kube {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// Reads fixed-width numbers and separators off the front of a text.
class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool literal(char c) {
        if (text_.empty() || text_.front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }
    bool number(std::size_t digits, int max, int& out) {
        if (text_.size() < digits) return false;
        out = 0;
        for (std::size_t i = 0; i < digits; ++i) {
            if (text_[i] < '0' || text_[i] > '9') return false;
            out = out * 10 + (text_[i] - '0');
        }
        text_.remove_prefix(digits);
        return out <= max;
    }
    /// The digits after a decimal point as nanoseconds; more than nine are cut off.
    bool fraction(nanoseconds& out) {
        std::int64_t nanos = 0;
        std::int64_t unit = 100'000'000;
        std::size_t digits = 0;
        for (; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits) {
            nanos += (text_[digits] - '0') * unit;
            unit /= 10;
        }
        text_.remove_prefix(digits);
        out = nanoseconds(nanos);
        return digits > 0;
    }
    bool at_end() const { return text_.empty(); }

  private:
    std::string_view text_;
};

}  // namespace

std::string format_time(WallTime time) { return format_rfc3339(time); }

std::string format_micro_time(WallTime time) { return format_rfc3339(time, 6); }

std::string format_nano_time(WallTime time) { return format_rfc3339(time, 9); }

std::optional<WallTime> parse_time(std::string_view text) {
    Reader reader(text);
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    if (!(reader.number(4, 9999, year) && reader.literal('-') && reader.number(2, 12, month) &&
          reader.literal('-') && reader.number(2, 31, day) && reader.literal('T') &&
          reader.number(2, 23, hour) && reader.literal(':') && reader.number(2, 59, minute) &&
          reader.literal(':') && reader.number(2, 59, second)))
        return std::nullopt;
    nanoseconds fraction{0};
    if (reader.literal('.') && !reader.fraction(fraction)) return std::nullopt;
    seconds offset{0};
    if (!reader.literal('Z')) {
        const bool east = reader.literal('+');
        if (!east && !reader.literal('-')) return std::nullopt;
        int hours = 0, minutes = 0;
        if (!(reader.number(2, 23, hours) && reader.literal(':') && reader.number(2, 59, minutes)))
            return std::nullopt;
        offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
        if (!east) offset = -offset;
    }
    if (!reader.at_end()) return std::nullopt;

    const std::chrono::year_month_day date(std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day)));
    if (!date.ok()) return std::nullopt;
    const auto whole = std::chrono::sys_seconds(std::chrono::sys_days(date)) +
                       std::chrono::hours(hour) + std::chrono::minutes(minute) + seconds(second) -
                       offset;
    constexpr auto kFirst = std::chrono::ceil<seconds>(WallTime::min());
    constexpr auto kLast = std::chrono::floor<seconds>(WallTime::max());
    if (whole < kFirst || whole >= kLast) return std::nullopt;
    return WallTime(whole) + fraction;
}

}  // namespace muster::kube
