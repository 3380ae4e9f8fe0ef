#include "base/time/calendar_alarm.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/async/task_group.h"
#include "base/test_loop.h"

namespace muster::calendar_alarm_test {
namespace {

using namespace std::chrono_literals;

class CalendarAlarmTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    void SetUp() override {
        tasks_.spawn("alarm", alarm_.run());
        settle();
    }
    void TearDown() override { await(tasks_.stop()); }

    std::vector<Duration> rung_;
    WallTime begin_ = clock.wall_now();
    CalendarAlarm alarm_{context.get_executor(), clock,
                         [this] { rung_.push_back(clock.wall_now() - begin_); }};
    TaskGroup tasks_{context.get_executor()};
};

TEST_F(CalendarAlarmTest, RingsOnceWhenItsTimeHasCome) {
    alarm_.set(begin_ + 5s);
    advance(1h);
    EXPECT_EQ(rung_, (std::vector<Duration>{5s}));
}

TEST_F(CalendarAlarmTest, RingsAtTheTimeThatWasSetLast) {
    alarm_.set(begin_ + 5s);
    advance(1s);
    alarm_.set(begin_ + 9s);
    advance(5s);
    alarm_.set(begin_ + 7s);
    advance(1h);
    EXPECT_EQ(rung_, (std::vector<Duration>{7s}));
}

/// As if the machine was suspended: the calendar went on, the monotonic clock did not.
TEST_F(CalendarAlarmTest, FollowsTheCalendarBothWays) {
    alarm_.set(begin_ + 1h);
    settle();
    clock.skew_wall(2h);
    settle();
    EXPECT_EQ(rung_, (std::vector<Duration>{2h}));
    alarm_.set(begin_ + 3h);
    settle();
    clock.skew_wall(-1h);
    advance(1h + 59min);
    EXPECT_EQ(rung_.size(), 1);
    advance(1min);
    EXPECT_EQ(rung_, (std::vector<Duration>{2h, 3h}));
}

TEST_F(CalendarAlarmTest, RingsSoonForATimeThatHasPassed) {
    advance(10s);
    alarm_.set(begin_ + 5s);
    settle();
    EXPECT_EQ(rung_, (std::vector<Duration>{10s}));
}

TEST_F(CalendarAlarmTest, RingsNoMoreWhenItIsTakenBack) {
    alarm_.set(begin_ + 5s);
    advance(1s);
    alarm_.set(std::nullopt);
    advance(1h);
    EXPECT_TRUE(rung_.empty());
    alarm_.set(clock.wall_now() + 2s);
    advance(1h);
    EXPECT_EQ(rung_, (std::vector<Duration>{1h + 1s + 2s}));
}

}  // namespace
}  // namespace muster::calendar_alarm_test
