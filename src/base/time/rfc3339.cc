#include "base/time/rfc3339.h"

#include <fmt/format.h>

#include <chrono>

namespace muster {

namespace {

struct Fields {
    std::chrono::year_month_day date;
    std::chrono::hh_mm_ss<std::chrono::seconds> clock;
    std::int64_t nanos = 0;
};

Fields split(WallTime time) {
    // With integers: near the ends of its range WallTime can't hold the start of its own day.
    constexpr std::int64_t kSecond = 1'000'000'000;
    const std::int64_t count = time.time_since_epoch().count();
    const std::int64_t rest = count % kSecond;
    const std::int64_t borrow = rest < 0 ? 1 : 0;
    const std::chrono::sys_seconds whole(std::chrono::seconds(count / kSecond - borrow));
    const auto day = std::chrono::floor<std::chrono::days>(whole);
    return {std::chrono::year_month_day(day),
            std::chrono::hh_mm_ss<std::chrono::seconds>(whole - day), rest + borrow * kSecond};
}

/// The last digits of a number, with leading zeros.
void put(char* at, int digits, std::int64_t number) {
    for (int i = digits - 1; i >= 0; --i) {
        at[i] = static_cast<char>('0' + number % 10);
        number /= 10;
    }
}

/// Every API object has such times, and a general formatter takes several times as long.
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

}  // namespace

std::string format_rfc3339(WallTime time, int fraction_digits) {
    const Fields fields = split(time);
    const std::string text = format_to_second(fields);
    if (fraction_digits == 0) return text + "Z";
    std::int64_t fraction = fields.nanos;
    for (int digits = 9; digits > fraction_digits; --digits) fraction /= 10;
    return fmt::format("{}.{:0{}}Z", text, fraction, fraction_digits);
}

}  // namespace muster
