#include "cli/internal/logs/log_merge.h"

#include <gtest/gtest.h>

namespace muster::cli::log_merge_test {
namespace {

using std::chrono::milliseconds;

const Instant kStart{};

/// "0:one 1:two" of what is due.
std::string taken(LogMerge& merge, Instant now = kStart) {
    std::string text;
    for (const LogMerge::Line& line : merge.take(now))
        text += (text.empty() ? "" : " ") + std::to_string(line.source) + ":" + line.text;
    return text;
}
std::string at(int second, const std::string& text) {
    return "2026-01-01T00:00:0" + std::to_string(second) + ".5Z " + text;
}

TEST(LogMerge, OrdersByStampAndHoldsWhatMayBeOvertaken) {
    LogMerge merge(std::nullopt);
    const std::size_t a = merge.open();
    const std::size_t b = merge.open();
    merge.add(a, at(2, "a2"), kStart);
    EXPECT_EQ(taken(merge), "") << "b may still have an earlier one";
    EXPECT_EQ(merge.wake_at(), std::nullopt);
    merge.add(b, at(1, "b1"), kStart);
    EXPECT_EQ(taken(merge), "1:b1") << "a2 waits for b's next";
    merge.add(b, at(3, "b3"), kStart);
    EXPECT_EQ(taken(merge), "0:a2");
    EXPECT_FALSE(merge.finished());
    merge.end(a);
    EXPECT_EQ(taken(merge), "1:b3");
    merge.end(b);
    EXPECT_TRUE(merge.finished());
}

TEST(LogMerge, EqualStampsKeepTheOrderOfTheLogs) {
    LogMerge merge(std::nullopt);
    const std::size_t a = merge.open();
    const std::size_t b = merge.open();
    merge.add(b, at(1, "b"), kStart);
    merge.add(a, at(1, "a"), kStart);
    merge.end(a);
    merge.end(b);
    EXPECT_EQ(taken(merge), "0:a 1:b");
}

TEST(LogMerge, ALineDoesNotWaitLongerThanThePatience) {
    LogMerge merge(milliseconds(100));
    const std::size_t a = merge.open();
    merge.open();
    merge.add(a, at(2, "a2"), kStart);
    merge.add(a, at(3, "a3"), kStart + milliseconds(50));
    EXPECT_EQ(merge.wake_at(), kStart + milliseconds(100));
    EXPECT_EQ(taken(merge, kStart + milliseconds(99)), "");
    EXPECT_EQ(taken(merge, kStart + milliseconds(100)), "0:a2");
    EXPECT_EQ(taken(merge, kStart + milliseconds(150)), "0:a3");
}

TEST(LogMerge, LinesOfOneLogStayInOrder) {
    LogMerge merge(std::nullopt);
    const std::size_t a = merge.open();
    merge.add(a, at(5, "before the clock was set back"), kStart);
    merge.add(a, at(1, "after"), kStart);
    merge.add(a, "no stamp", kStart);
    merge.end(a);
    EXPECT_EQ(taken(merge), "0:before the clock was set back 0:after 0:no stamp");
}

TEST(LogMerge, AStampIsKeptApart) {
    LogMerge merge(std::nullopt);
    const std::size_t a = merge.open();
    merge.add(a, at(5, "two words"), kStart);
    merge.add(a, "2026-01-01T00:00:06Z", kStart);
    merge.end(a);
    const auto lines = merge.take(kStart);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].stamp, "2026-01-01T00:00:05.5Z");
    EXPECT_EQ(lines[0].text, "two words");
    EXPECT_EQ(lines[1].text, "");
}

TEST(LogMerge, HoldsABoundedPart) {
    LogMerge merge(std::nullopt);
    const std::size_t a = merge.open();
    merge.open();
    for (std::size_t i = 0; i < LogMerge::kHeld; ++i) {
        EXPECT_TRUE(merge.wants(a));
        merge.add(a, at(1, "x"), kStart);
    }
    EXPECT_FALSE(merge.wants(a));
}

}  // namespace
}  // namespace muster::cli::log_merge_test
