#include "apiserver/internal/printing/cell_text.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "kube/time.h"

namespace muster::apiserver {
namespace {

TEST(CellText, AgesGetCoarserWithTime) {
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

TEST(CellText, AgesOfTimestamps) {
    const WallTime now = *kube::parse_time("2026-01-02T03:04:05.9Z");
    EXPECT_EQ(age_text("2026-01-02T03:04:00Z", now), "5s");
    EXPECT_EQ(age_text("2026-01-02T03:04:00.999999Z", now), "5s");
    EXPECT_EQ(age_text("", now), "<unknown>");
    EXPECT_EQ(age_text("yesterday", now), "<invalid>");
    // The ends of what a timestamp can be are farther apart than nanoseconds can count.
    EXPECT_EQ(age_text("1678-01-01T00:00:00Z", now), "348y");
    EXPECT_EQ(age_text("1678-01-01T00:00:00Z", *kube::parse_time("2261-01-01T00:00:00Z")), "583y");
}

TEST(CellText, Selectors) {
    struct Row {
        const char* selector;
        const char* text;
    };
    constexpr Row kRows[] = {
        {"{}", "<none>"},
        {R"({"matchLabels":{"b":"2","a":"1"}})", "a=1,b=2"},
        {R"({"matchExpressions":[{"key":"k","operator":"In","values":["y","x"]}]})", "k in (x,y)"},
        {R"({"matchLabels":{"z":"1"},"matchExpressions":[
            {"key":"n","operator":"NotIn","values":["x"]},
            {"key":"a","operator":"Exists"},{"key":"b","operator":"DoesNotExist"}]})",
         "a,!b,n notin (x),z=1"},
    };
    for (const Row& row : kRows) {
        const json::value selector = json::parse(row.selector);
        EXPECT_EQ(selector_text(&selector.get_object()), row.text);
    }
    EXPECT_EQ(selector_text(nullptr), "<none>");
}

TEST(CellText, LongListsAreCut) {
    EXPECT_EQ(shortened({}, 2, "<none>"), "<none>");
    EXPECT_EQ(shortened({"a", "b"}, 2, "<none>"), "a,b");
    EXPECT_EQ(shortened({"a", "b", "c", "d"}, 2, "<none>"), "a,b + 2 more...");
}

}  // namespace
}  // namespace muster::apiserver
