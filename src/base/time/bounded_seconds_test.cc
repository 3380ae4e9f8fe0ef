#include "base/time/bounded_seconds.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/time/clock.h"

namespace muster::bounded_seconds_test {
namespace {

using namespace std::chrono_literals;

TEST(BoundedSeconds, AnyOfThemCanBeAddedToATimeOfThisCentury) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(bounded_seconds(30), 30s);
    EXPECT_EQ(bounded_seconds(-1), -1s);
    const WallTime now{std::chrono::sys_days{std::chrono::year{2099} / 12 / 31}};
    EXPECT_GT(now + bounded_seconds(kMost), now + 876'000h);
    EXPECT_LT(now + bounded_seconds(kLeast), now - 876'000h);
    EXPECT_LT(now - bounded_seconds(kMost), now);
    const Instant up = Instant(876'000h);
    EXPECT_GT(up + bounded_seconds(kMost), up);
}

}  // namespace
}  // namespace muster::bounded_seconds_test
