#include "base/time/loop_watch.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <ctime>

namespace muster {
namespace {

/// Computes for at least so long, whatever else the machine does.
void compute(double seconds) {
    const std::clock_t begin = std::clock();
    while (static_cast<double>(std::clock() - begin) < seconds * CLOCKS_PER_SEC) {
    }
}

TEST(LoopWatch, KnowsTheLongestTurnAndHowManyWereTooLong) {
    asio::io_context context(1);
    LoopWatch watch;
    int turns = 0;
    asio::post(context, [&] { ++turns; });
    asio::post(context, [&] {
        compute(0.08);
        asio::post(context, [&] { ++turns; });
    });
    watch.run(context);
    EXPECT_EQ(turns, 2);
    EXPECT_GE(watch.longest(), std::chrono::milliseconds(70));
    EXPECT_EQ(watch.too_long(), 1);
}

TEST(LoopWatch, CountsWhatIsLongerThanItShouldBe) {
    LoopWatch watch;
    watch.add(LoopWatch::kLongest);
    EXPECT_EQ(watch.too_long(), 0);
    watch.add(LoopWatch::kLongest + Duration(1));
    watch.add(Duration(1));
    EXPECT_EQ(watch.too_long(), 1);
    EXPECT_EQ(watch.longest(), LoopWatch::kLongest + Duration(1));
}

}  // namespace
}  // namespace muster
