#include "kube/values/time.h"

#include <gtest/gtest.h>

namespace muster::kube::time_test {
namespace {

WallTime at(std::int64_t seconds, std::int64_t nanos = 0) {
    return WallTime(std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos));
}

TEST(KubeTime, Formats) {
    const WallTime time = at(1767323045, 123456789);
    EXPECT_EQ(format_time(time), "2026-01-02T03:04:05Z");
    EXPECT_EQ(format_micro_time(time), "2026-01-02T03:04:05.123456Z");
    EXPECT_EQ(format_nano_time(time), "2026-01-02T03:04:05.123456789Z");
    EXPECT_EQ(format_micro_time(at(0)), "1970-01-01T00:00:00.000000Z");
    EXPECT_EQ(format_time(at(951782400)), "2000-02-29T00:00:00Z");
    EXPECT_EQ(format_nano_time(at(-1, 1)), "1969-12-31T23:59:59.000000001Z");
    EXPECT_EQ(format_nano_time(WallTime::min()), "1677-09-21T00:12:43.145224192Z");
    EXPECT_EQ(format_nano_time(WallTime::max()), "2262-04-11T23:47:16.854775807Z");
}

struct Row {
    const char* text;
    std::optional<WallTime> time;
};

TEST(KubeTime, ParsesRfc3339) {
    const Row kRows[] = {
        {"2026-01-02T03:04:05Z", at(1767323045)},
        {"2026-01-02T03:04:05+00:00", at(1767323045)},  // Python's client
        {"2026-01-02T05:34:05+02:30", at(1767323045)},
        {"2026-01-01T23:04:05-04:00", at(1767323045)},
        {"2026-01-02T03:04:05.1Z", at(1767323045, 100'000'000)},
        {"2026-01-02T03:04:05.123456Z", at(1767323045, 123'456'000)},
        {"2026-01-02T03:04:05.1234567899Z", at(1767323045, 123'456'789)},
        {"2000-02-29T00:00:00Z", at(951782400)},
        {"1969-12-31T23:59:59Z", at(-1)},
        {"", std::nullopt},
        {"2026-01-02", std::nullopt},
        {"2026-01-02T03:04:05", std::nullopt},
        {"2026-01-02 03:04:05Z", std::nullopt},
        {"2026-01-02t03:04:05z", std::nullopt},
        {"2026-01-02T03:04:05.Z", std::nullopt},
        {"2026-01-02T03:04:05Zx", std::nullopt},
        {" 2026-01-02T03:04:05Z", std::nullopt},
        {"2026-13-02T03:04:05Z", std::nullopt},
        {"2026-00-02T03:04:05Z", std::nullopt},
        {"2026-02-29T03:04:05Z", std::nullopt},
        {"2026-01-02T24:00:00Z", std::nullopt},
        {"2026-01-02T03:60:05Z", std::nullopt},
        {"2026-01-02T03:04:60Z", std::nullopt},
        {"2026-01-02T03:04:05+24:00", std::nullopt},
        {"2026-01-02T03:04:05+0200", std::nullopt},
        {"2026-01-02T03:04:05+02", std::nullopt},
        {"+026-01-02T03:04:05Z", std::nullopt},
        {"0001-01-01T00:00:00Z", std::nullopt},  // outside what 64 bits of nanoseconds hold
        {"9999-12-31T23:59:59Z", std::nullopt},
    };
    for (const Row& row : kRows) EXPECT_EQ(parse_time(row.text), row.time) << row.text;
}

TEST(KubeTime, ReadsWhatItWrites) {
    for (std::int64_t seconds : {-9223372036LL, -1LL, 0LL, 951782399LL, 1767323045LL, 9223372035LL})
        for (std::int64_t nanos : {0LL, 1LL, 999'999'999LL}) {
            const WallTime time = at(seconds, nanos);
            EXPECT_EQ(parse_time(format_nano_time(time)), time);
            EXPECT_EQ(parse_time(format_time(time)),
                      std::chrono::floor<std::chrono::seconds>(time));
        }
}

}  // namespace
}  // namespace muster::kube::time_test
