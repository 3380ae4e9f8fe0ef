#include "kube/values/time.h"

#include <fmt/format.h>

#include <chrono>

namespace muster::kube {
namespace {

using std::chrono::days;
using std::chrono::nanoseconds;
using std::chrono::seconds;

struct Fields {
    std::chrono::year_month_day date;
    std::chrono::hh_mm_ss<seconds> clock;
    std::int64_t nanos = 0;
};

Fields split(WallTime time) {
    // By integers: near the ends of its range WallTime can't hold the start of its own day.
    constexpr std::int64_t kSecond = 1'000'000'000;
    const std::int64_t count = time.time_since_epoch().count();
    const std::int64_t rest = count % kSecond;
    const std::int64_t borrow = rest < 0 ? 1 : 0;
    const std::chrono::sys_seconds whole(seconds(count / kSecond - borrow));
    const auto day = std::chrono::floor<days>(whole);
    return {std::chrono::year_month_day(day), std::chrono::hh_mm_ss<seconds>(whole - day),
            rest + borrow * kSecond};
}

/// The last digits of a number, with leading zeros.
void put(char* at, int digits, std::int64_t number) {
    for (int i = digits - 1; i >= 0; --i) {
        at[i] = static_cast<char>('0' + number % 10);
        number /= 10;
    }
}

/// Every object has such times, and a general formatter takes several times as long.
std::string format_to_second(const Fields& fields) {
    std::string text = "0000-00-00T00:00:00";
    put(&text[0], 4, static_cast<int>(fields.date.year()));
    put(&text[5], 2, static_cast<unsigned>(fields.date.month()));
    put(&text[8], 2, static_cast<unsigned>(fields.date.day()));
    put(&text[11], 2, fields.clock.hours().count());
    put(&text[14], 2, fields.clock.minutes().count());
    put(&text[17], 2, fields.clock.seconds().count());
    return text;
}

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

std::string format_time(WallTime time) { return format_to_second(split(time)) + "Z"; }

std::string format_micro_time(WallTime time) {
    const Fields fields = split(time);
    return fmt::format("{}.{:06}Z", format_to_second(fields), fields.nanos / 1000);
}

std::string format_nano_time(WallTime time) {
    const Fields fields = split(time);
    return fmt::format("{}.{:09}Z", format_to_second(fields), fields.nanos);
}

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
