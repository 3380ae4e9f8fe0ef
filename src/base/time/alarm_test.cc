#include "base/time/alarm.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/async/task_group.h"
#include "base/test_loop.h"

namespace muster::alarm_test {
namespace {

using namespace std::chrono_literals;

class AlarmTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    void SetUp() override {
        tasks_.spawn("alarm", alarm_.run());
        settle();
    }
    void TearDown() override { await(tasks_.stop()); }

    std::vector<Duration> rung_;
    Instant begin_ = clock.now();
    Alarm alarm_{context.get_executor(), clock, [this] { rung_.push_back(clock.now() - begin_); }};
    TaskGroup tasks_{context.get_executor()};
};

TEST_F(AlarmTest, RingsOnceWhenItsTimeHasCome) {
    alarm_.set(begin_ + 5s);
    advance(1h);
    EXPECT_EQ(rung_, (std::vector<Duration>{5s}));
}

TEST_F(AlarmTest, RingsAtTheTimeThatWasSetLast) {
    alarm_.set(begin_ + 5s);
    advance(1s);
    alarm_.set(begin_ + 9s);
    advance(5s);
    alarm_.set(begin_ + 7s);
    advance(1h);
    EXPECT_EQ(rung_, (std::vector<Duration>{7s}));
}

TEST_F(AlarmTest, RingsSoonForATimeThatHasPassed) {
    advance(10s);
    alarm_.set(begin_ + 5s);
    settle();
    EXPECT_EQ(rung_, (std::vector<Duration>{10s}));
}

TEST_F(AlarmTest, RingsNoMoreWhenItIsTakenBack) {
    alarm_.set(begin_ + 5s);
    advance(1s);
    alarm_.set(Instant::max());
    advance(1h);
    EXPECT_TRUE(rung_.empty());
    alarm_.set(clock.now() + 2s);
    advance(1h);
    EXPECT_EQ(rung_, (std::vector<Duration>{1h + 1s + 2s}));
}

}  // namespace
}  // namespace muster::alarm_test
