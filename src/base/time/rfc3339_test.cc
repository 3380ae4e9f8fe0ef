#include "base/time/rfc3339.h"

#include <gtest/gtest.h>

namespace muster::rfc3339_test {
namespace {

TEST(Rfc3339, AFractionHasTheDigitsThatAreAskedFor) {
    const WallTime time = std::chrono::sys_days(std::chrono::year(2026) / 1 / 2) +
                          std::chrono::hours(3) + std::chrono::minutes(4) +
                          std::chrono::seconds(5) + std::chrono::nanoseconds(6'007'008);
    EXPECT_EQ(format_rfc3339(time), "2026-01-02T03:04:05Z");
    EXPECT_EQ(format_rfc3339(time, 6), "2026-01-02T03:04:05.006007Z");
    EXPECT_EQ(format_rfc3339(time, 9), "2026-01-02T03:04:05.006007008Z");
}

TEST(Rfc3339, TimesBefore1970AndAtTheEndsOfTheRange) {
    EXPECT_EQ(format_rfc3339(WallTime(std::chrono::nanoseconds(-1)), 9),
              "1969-12-31T23:59:59.999999999Z");
    EXPECT_EQ(format_rfc3339(WallTime::min()), "1677-09-21T00:12:43Z");
    EXPECT_EQ(format_rfc3339(WallTime::max()), "2262-04-11T23:47:16Z");
}

}  // namespace
}  // namespace muster::rfc3339_test
