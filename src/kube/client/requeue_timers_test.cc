#include "kube/client/requeue_timers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/async/task_fault.h"
#include "base/time/sim_clock.h"

namespace muster::kube::requeue_timers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class RequeueTimersTest : public ::testing::Test {
  protected:
    ~RequeueTimersTest() override {
        asio::co_spawn(context, tasks.stop(), [](std::exception_ptr) {});
        run_for(1s);
    }
    void run_for(Duration duration) { run_simulation(context, clock, clock.now() + duration); }
    WallTime in(Duration duration) { return clock.wall_now() + duration; }

    asio::io_context context;
    SimClock clock;
    TaskGroup tasks{context.get_executor()};
    std::vector<std::string> requeued;
    bool throws = false;  ///< once
    RequeueTimers timers{clock, tasks, [this](const std::string& key) {
                             if (std::exchange(throws, false))
                                 throw std::runtime_error("a listener's fault");
                             requeued.push_back(key);
                         }};
};

TEST_F(RequeueTimersTest, EachRingsOnceAtItsTimeAndNotBefore) {
    timers.set("later", in(20s));
    timers.set("soon", in(10s));
    run_for(9s);
    EXPECT_THAT(requeued, IsEmpty());
    run_for(2s);
    EXPECT_THAT(requeued, ElementsAre("soon"));
    run_for(1h);
    EXPECT_THAT(requeued, ElementsAre("soon", "later"));
}

TEST_F(RequeueTimersTest, AKeyHasOneTime) {
    timers.set("a", in(10s));
    timers.set("a", in(20s));
    timers.set("b", in(20s));
    timers.set("b", in(10s));
    timers.set("c", in(10s));
    timers.set("c", std::nullopt);
    run_for(15s);
    EXPECT_THAT(requeued, ElementsAre("b"));
    run_for(1h);
    EXPECT_THAT(requeued, ElementsAre("b", "a"));
}

TEST_F(RequeueTimersTest, ItFollowsTheCalendarClock) {
    timers.set("a", in(1h));
    run_for(1min);
    clock.skew_wall(-30min);
    run_for(1h);
    EXPECT_THAT(requeued, IsEmpty()) << "the calendar was set back";
    clock.skew_wall(2h);
    run_for(0s);
    EXPECT_THAT(requeued, ElementsAre("a")) << "the calendar was set forward";
}

TEST_F(RequeueTimersTest, WhatIsDueAlreadyRingsAtOnce) {
    timers.set("a", in(-1h));
    run_for(0s);
    EXPECT_THAT(requeued, ElementsAre("a"));
}

TEST_F(RequeueTimersTest, EachRingsAfterAFault) {
    {
        const TaskFault fault("deadlines of a controller");
        timers.set("a", in(10s));
        timers.set("b", in(10s));
        timers.set("c", in(20s));
        run_for(0s);
        EXPECT_EQ(fault.hits(), 1u);
    }
    throws = true;
    run_for(10s);
    EXPECT_THAT(requeued, IsEmpty());
    run_for(10s);
    EXPECT_THAT(requeued, ElementsAre("a", "b", "c"));
}

TEST_F(RequeueTimersTest, ItMayBeSetAgainWhenItRings) {
    timers.set("a", in(10s));
    run_for(10s);
    timers.set("a", in(10s));
    run_for(10s);
    EXPECT_THAT(requeued, ElementsAre("a", "a"));
}

}  // namespace
}  // namespace muster::kube::requeue_timers_test
