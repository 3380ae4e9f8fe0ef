#include "operator/internal/reconcile/requeue_timers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/sim_clock.h"

namespace muster::operators {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class AlarmsTest : public ::testing::Test {
  protected:
    ~AlarmsTest() override {
        asio::co_spawn(context, tasks.stop(), [](std::exception_ptr) {});
        run_for(1s);
    }
    void run_for(Duration duration) { run_simulation(context, clock, clock.now() + duration); }
    WallTime in(Duration duration) { return clock.wall_now() + duration; }

    asio::io_context context;
    SimClock clock;
    TaskGroup tasks{context.get_executor()};
    std::vector<std::string> rung;
    Alarms alarms{clock, tasks, [this](const std::string& key) { rung.push_back(key); }};
};

TEST_F(AlarmsTest, EachRingsOnceAtItsTimeAndNotBefore) {
    alarms.set("later", in(20s));
    alarms.set("soon", in(10s));
    run_for(9s);
    EXPECT_THAT(rung, IsEmpty());
    run_for(2s);
    EXPECT_THAT(rung, ElementsAre("soon"));
    run_for(1h);
    EXPECT_THAT(rung, ElementsAre("soon", "later"));
}

TEST_F(AlarmsTest, AKeyHasOneTime) {
    alarms.set("a", in(10s));
    alarms.set("a", in(20s));
    alarms.set("b", in(20s));
    alarms.set("b", in(10s));
    alarms.set("c", in(10s));
    alarms.set("c", std::nullopt);
    run_for(15s);
    EXPECT_THAT(rung, ElementsAre("b"));
    run_for(1h);
    EXPECT_THAT(rung, ElementsAre("b", "a"));
}

TEST_F(AlarmsTest, ItFollowsTheCalendarClock) {
    alarms.set("a", in(1h));
    run_for(1min);
    clock.skew_wall(-30min);
    run_for(1h);
    EXPECT_THAT(rung, IsEmpty()) << "the calendar was set back";
    clock.skew_wall(2h);
    run_for(0s);
    EXPECT_THAT(rung, ElementsAre("a")) << "the calendar was set forward";
}

TEST_F(AlarmsTest, WhatIsDueAlreadyRingsAtOnce) {
    alarms.set("a", in(-1h));
    run_for(0s);
    EXPECT_THAT(rung, ElementsAre("a"));
}

TEST_F(AlarmsTest, ItMayBeSetAgainWhenItRings) {
    alarms.set("a", in(10s));
    run_for(10s);
    alarms.set("a", in(10s));
    run_for(10s);
    EXPECT_THAT(rung, ElementsAre("a", "a"));
}

}  // namespace
}  // namespace muster::operators
