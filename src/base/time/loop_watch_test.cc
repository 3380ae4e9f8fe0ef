#include "base/time/loop_watch.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <ctime>
#include <latch>
#include <stdexcept>
#include <vector>

#include "base/async/side_thread.h"
#include "base/log.h"
#include "base/time/real_clock.h"
#include "base/time/sim_clock.h"

namespace muster::loop_watch_test {
namespace {

using std::chrono::milliseconds;

/// Computes for at least so long, whatever else the machine does.
void compute(double seconds) {
    const std::clock_t begin = std::clock();
    while (static_cast<double>(std::clock() - begin) < seconds * CLOCKS_PER_SEC) {
    }
}

/// Without waiting.
ThreadTime computing(Duration duration) { return {.passed = duration, .computed = duration}; }

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
    EXPECT_GE(watch_.longest().computed, milliseconds(70));
    EXPECT_EQ(watch_.computed_too_long(), 1);
}

TEST_F(LoopWatchTest, KnowsHowLongAHandlerWaitedWhoComputesNothing) {
    SideThread thread;
    std::latch written(1);
    // In the place of a disk.
    asio::co_spawn(context_,
                   thread.run("test",
                              [&written] {
                                  compute(0.08);
                                  written.count_down();
                                  return true;
                              }),
                   [](const std::exception_ptr&, bool) {});
    asio::post(context_, [&] { asio::post(context_, [&] { written.wait(); }); });
    watch_.run(context_);
    EXPECT_GE(watch_.longest().passed, milliseconds(70));
    EXPECT_GE(watch_.passed_too_long(), 1);
    EXPECT_EQ(watch_.computed_too_long(), 0);
}

TEST_F(LoopWatchTest, KnowsWhenTheLoopWoke) {
    RealClock clock;
    const Instant due = clock.now() + milliseconds(1);
    asio::co_spawn(context_, clock.sleep_until(due), [&](const std::exception_ptr&) {
        EXPECT_GE(Instant(loop_woke_at()), due);
        EXPECT_LE(Instant(loop_woke_at()), clock.now());
    });
    watch_.run(context_);
}

TEST_F(LoopWatchTest, TheWaitForSomethingToDoIsNoPartOfATurn) {
    const ThreadTime before{.passed = milliseconds(100), .computed = milliseconds(10)};
    const ThreadTime end{.passed = milliseconds(900), .computed = milliseconds(13)};
    EXPECT_EQ(LoopWatch::turn_of(before, milliseconds(895), end).passed, milliseconds(5));
    EXPECT_EQ(LoopWatch::turn_of(before, milliseconds(90), end).passed, milliseconds(800));
    EXPECT_EQ(LoopWatch::turn_of(before, milliseconds(895), end).computed, milliseconds(3));
}

TEST_F(LoopWatchTest, CountsWhatIsLongerThanItShouldBe) {
    watch_.add(computing(LoopWatch::kLongest));
    EXPECT_EQ(watch_.computed_too_long(), 0);
    EXPECT_EQ(watch_.passed_too_long(), 0);
    EXPECT_TRUE(lines_.empty());
    watch_.add(computing(LoopWatch::kLongest + Duration(1)));
    watch_.add(computing(Duration(1)));
    EXPECT_EQ(watch_.computed_too_long(), 1);
    EXPECT_EQ(watch_.passed_too_long(), 1);
    EXPECT_EQ(watch_.longest().computed, LoopWatch::kLongest + Duration(1));
}

TEST_F(LoopWatchTest, SaysWhatALongWaitWasFor) {
    watch_.add({.passed = LoopWatch::kLongestPassed, .computed = milliseconds(1)}, "a");
    EXPECT_EQ(watch_.passed_too_long(), 1);
    EXPECT_TRUE(lines_.empty()) << "on a busy machine others run";
    watch_.add({.passed = milliseconds(300), .computed = milliseconds(1)}, "b");
    watch_.add({.passed = milliseconds(300), .computed = milliseconds(1)}, "c");
    ASSERT_EQ(lines_.size(), 1);
    EXPECT_NE(lines_[0].find("waited"), std::string::npos) << lines_[0];
    EXPECT_NE(lines_[0].find("ms=1.0 passed_ms=300.0 worked_for=b"), std::string::npos)
        << lines_[0];
    watch_.add({.passed = milliseconds(300), .computed = milliseconds(60)}, "d");
    ASSERT_EQ(lines_.size(), 2) << "of its own kind it is the first";
    EXPECT_NE(lines_[1].find("held the event loop for too long ms=60.0 passed_ms=300.0"),
              std::string::npos)
        << lines_[1];
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
    EXPECT_EQ(current_work(), "");
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
    for (int turn = 0; turn < 100; ++turn) watch_.add(computing(milliseconds(60)), "a");
    ASSERT_EQ(lines_.size(), 1);
    watch_.add(computing(milliseconds(70)), "b");
    ASSERT_EQ(lines_.size(), 2);
    EXPECT_NE(lines_[1].find("ms=70.0"), std::string::npos) << lines_[1];
    EXPECT_NE(lines_[1].find("not_logged_before=99"), std::string::npos) << lines_[1];
    clock_.advance_to(clock_.now() + LoggedDurations::kInterval);
    watch_.add(computing(milliseconds(60)), "c");
    EXPECT_EQ(lines_.size(), 3);
    EXPECT_EQ(watch_.computed_too_long(), 102);
}

TEST_F(LoopWatchTest, ContinuesAfterAHandlerThatThrows) {
    bool continued = false;
    asio::post(context_, [] { throw std::runtime_error("a fault"); });
    asio::post(context_, [&] { continued = true; });
    watch_.run(context_);
    EXPECT_TRUE(continued);
}

}  // namespace
}  // namespace muster::loop_watch_test
