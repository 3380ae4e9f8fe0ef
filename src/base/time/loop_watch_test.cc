#include "base/time/loop_watch.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <ctime>
#include <stdexcept>
#include <vector>

#include "base/log.h"
#include "base/time/sim_clock.h"

namespace muster {
namespace {

using std::chrono::milliseconds;

/// Computes for at least so long, whatever else the machine does.
void compute(double seconds) {
    const std::clock_t begin = std::clock();
    while (static_cast<double>(std::clock() - begin) < seconds * CLOCKS_PER_SEC) {
    }
}

class LoopWatchTest : public testing::Test {
  protected:
    LoopWatchTest() {
        log::set_sink([this](log::Level, std::string_view line) { lines_.emplace_back(line); });
    }
    ~LoopWatchTest() override { log::set_sink({}); }

    asio::io_context context_{1};
    SimClock clock_;
    LoopWatch watch_{clock_};
    std::vector<std::string> lines_;
};

TEST_F(LoopWatchTest, KnowsTheLongestTurnAndHowManyWereTooLong) {
    int turns = 0;
    asio::post(context_, [&] { ++turns; });
    asio::post(context_, [&] {
        compute(0.08);
        asio::post(context_, [&] { ++turns; });
    });
    watch_.run(context_);
    EXPECT_EQ(turns, 2);
    EXPECT_GE(watch_.longest(), milliseconds(70));
    EXPECT_EQ(watch_.too_long(), 1);
}

TEST_F(LoopWatchTest, CountsWhatIsLongerThanItShouldBe) {
    watch_.add(LoopWatch::kLongest);
    EXPECT_EQ(watch_.too_long(), 0);
    EXPECT_TRUE(lines_.empty());
    watch_.add(LoopWatch::kLongest + Duration(1));
    watch_.add(Duration(1));
    EXPECT_EQ(watch_.too_long(), 1);
    EXPECT_EQ(watch_.longest(), LoopWatch::kLongest + Duration(1));
}

TEST_F(LoopWatchTest, SaysWhatALongTurnWorkedFor) {
    asio::post(context_, [] { works_for("GET", "/before"); });
    asio::post(context_, [] {
        works_for("GET", "/first");
        works_for("PATCH", "/api/v1/pods");
        compute(0.08);
    });
    asio::post(context_, [] { compute(0.16); });
    watch_.run(context_);
    ASSERT_EQ(lines_.size(), 2);
    EXPECT_NE(lines_[0].find("worked_for=\"PATCH /api/v1/pods\""), std::string::npos) << lines_[0];
    EXPECT_NE(lines_[1].find("worked_for=unknown"), std::string::npos) << lines_[1];
    works_for("GET", "/without a loop");
}

TEST_F(LoopWatchTest, KnowsWhetherOthersShouldHaveTheirTurn) {
    bool at_first = true;
    bool in_the_end = false;
    asio::post(context_, [] { compute(0.02); });
    asio::post(context_, [&] {
        at_first = turn_is_long();
        compute(0.02);
        in_the_end = turn_is_long();
    });
    watch_.run(context_);
    EXPECT_FALSE(at_first);
    EXPECT_TRUE(in_the_end);
    EXPECT_FALSE(turn_is_long()) << "without a loop";
}

TEST_F(LoopWatchTest, LogsFewOfManyLongTurnsAndAlwaysTheLongest) {
    for (int turn = 0; turn < 100; ++turn) watch_.add(milliseconds(60), "a");
    ASSERT_EQ(lines_.size(), 1);
    watch_.add(milliseconds(70), "b");
    ASSERT_EQ(lines_.size(), 2);
    EXPECT_NE(lines_[1].find("ms=70.0"), std::string::npos) << lines_[1];
    EXPECT_NE(lines_[1].find("not_logged_before=99"), std::string::npos) << lines_[1];
    clock_.advance_to(clock_.now() + LoopWatch::kTellInterval);
    watch_.add(milliseconds(60), "c");
    EXPECT_EQ(lines_.size(), 3);
    EXPECT_EQ(watch_.too_long(), 102);
}

TEST_F(LoopWatchTest, ContinuesAfterAHandlerThatThrows) {
    bool continued = false;
    asio::post(context_, [] { throw std::runtime_error("a fault"); });
    asio::post(context_, [&] { continued = true; });
    watch_.run(context_);
    EXPECT_TRUE(continued);
}

}  // namespace
}  // namespace muster
