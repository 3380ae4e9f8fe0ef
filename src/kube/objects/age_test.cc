#include "kube/objects/age.h"

#include <gtest/gtest.h>

#include "kube/values/time.h"

namespace muster::kube::age_test {
namespace {

TEST(Age, GetsCoarserWithTime) {
    constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
    struct Row {
        std::int64_t seconds;
        const char* text;
    };
    constexpr Row kRows[] = {
        {-2, "<invalid>"},
        {-1, "0s"},
        {0, "0s"},
        {119, "119s"},
        {120, "2m"},
        {121, "2m1s"},
        {10 * kMinute - 1, "9m59s"},
        {10 * kMinute, "10m"},
        {10 * kMinute + 59, "10m"},
        {3 * kHour - 1, "179m"},
        {3 * kHour, "3h"},
        {3 * kHour + 61, "3h1m"},
        {8 * kHour - 1, "7h59m"},
        {8 * kHour + kMinute, "8h"},
        {48 * kHour - 1, "47h"},
        {48 * kHour, "2d"},
        {7 * kDay + 23 * kHour, "7d23h"},
        {8 * kDay + kHour, "8d"},
        {2 * 365 * kDay - 1, "729d"},
        {2 * 365 * kDay, "2y"},
        {7 * 365 * kDay + kDay, "7y1d"},
        {8 * 365 * kDay + kDay, "8y"},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(duration_text(std::chrono::seconds(row.seconds)), row.text) << row.seconds;
}

TEST(Age, OfTimestamps) {
    const WallTime now = *parse_time("2026-01-02T03:04:05.9Z");
    EXPECT_EQ(age_text("2026-01-02T03:04:00Z", now), "5s");
    EXPECT_EQ(age_text("2026-01-02T03:04:00.999999Z", now), "5s");
    EXPECT_EQ(age_text("", now), "<unknown>");
    EXPECT_EQ(age_text("yesterday", now), "<invalid>");
    // The ends of what a timestamp can be are farther apart than nanoseconds can count.
    EXPECT_EQ(age_text("1678-01-01T00:00:00Z", now), "348y");
    EXPECT_EQ(age_text("1678-01-01T00:00:00Z", *parse_time("2261-01-01T00:00:00Z")), "583y");
}

}  // namespace
}  // namespace muster::kube::age_test
