#include "kube/schedule/cron_schedule.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "kube/values/time.h"

namespace muster::kube::cron_schedule_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

WallTime at(std::string_view text) { return parse_time(text).value(); }

TimeZone zone(std::string_view name) { return find_time_zone(name).value_or(TimeZone()); }

std::string next(std::string_view schedule, std::string_view after, std::string_view zone_name) {
    const auto read = CronSchedule::parse(schedule);
    if (!read) return read.error().message();
    const auto found = read->next(at(after), zone(zone_name));
    return found ? format_time(*found) : "never";
}

TEST(CronSchedule, NextTimes) {
    struct Row {
        const char* schedule;
        const char* after;
        const char* next;
    };
    const Row kRows[] = {
        {"* * * * *", "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z"},
        {"* * * * *", "2026-01-02T03:04:00Z", "2026-01-02T03:05:00Z"},
        {"*/15 * * * *", "2026-01-02T03:46:00Z", "2026-01-02T04:00:00Z"},
        {"5/20 * * * *", "2026-01-02T03:26:00Z", "2026-01-02T03:45:00Z"},
        {"0-10/5,30 * * * *", "2026-01-02T03:11:00Z", "2026-01-02T03:30:00Z"},
        {"0 0 1 1 *", "2026-01-02T03:04:05Z", "2027-01-01T00:00:00Z"},
        {"0 0 29 2 *", "2026-01-02T03:04:05Z", "2028-02-29T00:00:00Z"},
        {"0 0 31 2 *", "2026-01-02T03:04:05Z", "never"},
        {"30 6-16/4 * * 1-5", "2026-01-02T14:31:00Z", "2026-01-05T06:30:00Z"},
        {"0 12 * jan,MAR sun", "2026-01-27T00:00:00Z", "2026-03-01T12:00:00Z"},
        // Either of the month or of the week, if both are restricted.
        {"0 0 13 * 5", "2026-01-02T00:00:00Z", "2026-01-09T00:00:00Z"},
        {"0 0 13 * 5", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z"},
        {"0 0 13 * *", "2026-01-02T00:00:00Z", "2026-01-13T00:00:00Z"},
        {"0 0 ? * 0", "2026-01-02T00:00:00Z", "2026-01-04T00:00:00Z"},
        {"@hourly", "2026-01-02T03:04:05Z", "2026-01-02T04:00:00Z"},
        {"@daily", "2026-01-02T03:04:05Z", "2026-01-03T00:00:00Z"},
        {"@weekly", "2026-01-02T03:04:05Z", "2026-01-04T00:00:00Z"},
        {"@monthly", "2026-01-02T03:04:05Z", "2026-02-01T00:00:00Z"},
        {"@yearly", "2026-01-02T03:04:05Z", "2027-01-01T00:00:00Z"},
        {"@every 1h30m", "2026-01-02T03:04:05Z", "2026-01-02T04:34:05Z"},
        {"@every 100ms", "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"},
        {"\t0   0\t* * *  ", "2026-01-02T03:04:05Z", "2026-01-03T00:00:00Z"},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(next(row.schedule, row.after, "UTC"), row.next) << row.schedule;
}

TEST(CronSchedule, WhenTheClocksAreChanged) {
    if (!find_time_zone("Europe/Berlin")) GTEST_SKIP() << "this machine has no zoneinfo";
    struct Row {
        const char* zone;
        const char* schedule;
        const char* after;
        const char* next;
    };
    const Row kRows[] = {
        {"Europe/Berlin", "0 12 * * *", "2026-01-02T00:00:00Z", "2026-01-02T11:00:00Z"},
        {"Europe/Berlin", "0 12 * * *", "2026-07-02T00:00:00Z", "2026-07-02T10:00:00Z"},
        // In spring 02:30 does not come on the 29th.
        {"Europe/Berlin", "30 2 * * *", "2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"},
        {"Europe/Berlin", "30 * * * *", "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"},
        {"Europe/Berlin", "0 0 * * *", "2026-03-29T00:00:00Z", "2026-03-29T22:00:00Z"},
        // In autumn 02:30 comes twice on the 25th.
        {"Europe/Berlin", "30 2 * * *", "2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z"},
        {"Europe/Berlin", "30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
        {"Europe/Berlin", "30 2 * * *", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"},
        // After the last change that a file lists.
        {"Europe/Berlin", "0 12 * * *", "2060-07-02T00:00:00Z", "2060-07-02T10:00:00Z"},
        {"America/New_York", "0 0 1 * *", "2026-03-02T00:00:00Z", "2026-04-01T04:00:00Z"},
        {"Asia/Kolkata", "0 9 * * *", "2026-01-02T04:00:00Z", "2026-01-03T03:30:00Z"},
        {"Australia/Lord_Howe", "15 * * * *", "2026-04-04T14:45:00Z", "2026-04-04T15:45:00Z"},
        // Midnight does not come on this day.
        {"America/Santiago", "0 0 * * *", "2026-09-05T04:00:00Z", "2026-09-07T03:00:00Z"},
        {"America/Santiago", "0 1 * * *", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(next(row.schedule, row.after, row.zone), row.next) << row.zone << row.schedule;
}

TEST(CronSchedule, TheLastTimeDoesNotDependOnHowLongAgoTheFirstWas) {
    struct Row {
        const char* schedule;
        const char* after;
        const char* last;
    };
    const Row kRows[] = {
        {"* * * * *", "2026-01-02T03:04:05Z", "2026-06-05T12:00:00Z"},
        {"* * * * *", "2026-06-05T11:59:30Z", "2026-06-05T12:00:00Z"},
        {"* * * * *", "2026-06-05T12:00:00Z", "never"},
        {"@every 7m", "2026-06-05T11:00:00Z", "2026-06-05T11:56:00Z"},
        {"@every 1s", "1970-01-01T00:00:00Z", "2026-06-05T12:00:30Z"},
        {"* 0-9 * * *", "1970-01-01T00:00:00Z", "2026-06-05T09:59:00Z"},
        {"0 0 1 1 *", "1700-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
        {"* * * 1 *", "1700-01-01T00:00:00Z", "2026-01-31T23:59:00Z"},
        {"0 0 29 2 *", "2020-01-01T00:00:00Z", "2024-02-29T00:00:00Z"},
        {"0 0 31 2 *", "1700-01-01T00:00:00Z", "never"},
        {"0 13 * * *", "2026-06-05T00:00:00Z", "never"},
    };
    for (const Row& row : kRows) {
        const auto found = CronSchedule::parse(row.schedule)
                               ->last(at(row.after), at("2026-06-05T12:00:30Z"), TimeZone());
        EXPECT_EQ(found ? format_time(*found) : "never", row.last) << row.schedule;
    }
}

TEST(CronSchedule, SaysWhatIsWrong) {
    struct Row {
        const char* schedule;
        const char* message;
    };
    const Row kRows[] = {
        {"", "empty spec string"},
        {"* * *", "expected exactly 5 fields, found 3: [* * *]"},
        {"* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"},
        {"60 * * * *", "end of range (60) above maximum (59): 60"},
        {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
        {"* * * * 7", "end of range (7) above maximum (6): 7"},
        {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
        {"*/0 * * * *", "step of range should be a positive number: */0"},
        {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
        {"1/2/3 * * * *", "too many slashes: 1/2/3"},
        {"* * * feb2 *", "failed to parse int from feb2: "},
        {"@often", "unrecognized descriptor: @often"},
        {"@every x", "failed to parse duration @every x: "},
        {"99999999999999999999 * * * *", "failed to parse int from 99999999999999999999: "},
        {"1-4294967297 * * * *", "end of range ("},
    };
    for (const Row& row : kRows) {
        const auto read = CronSchedule::parse(row.schedule);
        ASSERT_FALSE(read.has_value()) << row.schedule;
        EXPECT_THAT(read.error().message(), StartsWith(row.message));
    }
}

TEST(TimeZone, AFileThatIsNoneIsRefused) {
    EXPECT_FALSE(TimeZone::parse("").has_value());
    EXPECT_FALSE(TimeZone::parse("TZif2").has_value());
    EXPECT_FALSE(TimeZone::parse(std::string(200, 'x')).has_value());
    EXPECT_FALSE(TimeZone::parse("TZif2" + std::string(39, '\xff')).has_value());
    for (const char* name : {"", "../../../etc/passwd", "/etc/localtime", "No/Where", "Local", "."})
        EXPECT_FALSE(find_time_zone(name).has_value()) << name;
    EXPECT_TRUE(find_time_zone("UTC").has_value());
}

}  // namespace
}  // namespace muster::kube::cron_schedule_test
