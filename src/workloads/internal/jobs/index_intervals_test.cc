#include "workloads/internal/jobs/index_intervals.h"

#include <gmock/gmock.h>

namespace muster::workloads::index_intervals_test {
namespace {

using ::testing::ElementsAre;

IndexIntervals read(std::string_view text) { return IndexIntervals::parse(text, 100); }

TEST(IndexIntervals, AreWrittenAsJobsDo) {
    for (const char* text : {"", "0", "1,2", "1-3", "0,2-4,6,7,9-11"}) {
        EXPECT_EQ(read(text).text(), text);
    }
}

TEST(IndexIntervals, JoinWhatTouches) {
    IndexIntervals set;
    for (const std::int64_t index : {5, 3, 4, 0, 4, 1}) set.add(index);
    EXPECT_EQ(set.text(), "0,1,3-5");
    EXPECT_EQ(set.count(), 5);
    EXPECT_TRUE(set.contains(4));
    EXPECT_FALSE(set.contains(2));
}

TEST(IndexIntervals, WhatIsWrongOrTooHighIsDropped) {
    EXPECT_EQ(read("3,1,x,5-4,7-,8-200,99").text(), "3,8-99");
    EXPECT_EQ(read("100-9223372036854775807").text(), "");
    EXPECT_EQ(read("-1,2").text(), "2");
    EXPECT_EQ(IndexIntervals::parse("0-5", 3).count(), 3);
}

TEST(IndexIntervals, MissingOnesAreTheFirst) {
    EXPECT_THAT(read("1,2,5").missing(3, 10), ElementsAre(0, 3, 4));
    EXPECT_THAT(read("0-8").missing(3, 10), ElementsAre(9));
    EXPECT_THAT(read("").missing(2, 1), ElementsAre(0));
}

TEST(IndexIntervals, CountsWhatTwoSetsHaveInCommon) {
    const auto of = [](const char* text) { return IndexIntervals::parse(text, 100); };
    EXPECT_EQ(of("0-9").count_in(of("5-14")), 5);
    EXPECT_EQ(of("0,2,4").count_in(of("1,3,5")), 0);
    EXPECT_EQ(of("0-2,8-9").count_in(of("2-8")), 2);
    EXPECT_EQ(of("").count_in(of("2-8")), 0);
    IndexIntervals both = of("0-2,8");
    both.add_all(of("2-3,9"));
    EXPECT_EQ(both.text(), "0-3,8,9");
}

}  // namespace
}  // namespace muster::workloads::index_intervals_test
