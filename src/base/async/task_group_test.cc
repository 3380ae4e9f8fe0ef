#include "base/async/task_group.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/time/sim_clock.h"

namespace muster {
namespace {

using namespace std::chrono_literals;

class TaskGroupTest : public ::testing::Test {
  protected:
    asio::io_context context;
    SimClock clock;
    TaskGroup group{context.get_executor()};
};

TEST_F(TaskGroupTest, SleepersWakeInTheOrderOfTheirDeadlines) {
    std::vector<int> order;
    auto sleeper = [](SimClock& c, std::vector<int>& woken, int id, Duration d) -> Task<void> {
        co_await c.sleep_for(d);
        woken.push_back(id);
    };
    group.spawn("late", sleeper(clock, order, 3, 3s));
    group.spawn("early", sleeper(clock, order, 1, 1s));
    group.spawn("tie", sleeper(clock, order, 2, 1s));
    run_simulation(context, clock);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(clock.now().time_since_epoch(), Duration(3s));
    EXPECT_EQ(group.size(), 0u);
}

TEST_F(TaskGroupTest, StopCancelsASleeperAndASignalWaiter) {
    Signal signal(context.get_executor());
    bool finished = false;
    auto wait_signal = [](Signal& s, bool& done) -> Task<void> {
        co_await s.wait();
        done = true;
    };
    auto sleep_long = [](SimClock& c, bool& done) -> Task<void> {
        co_await c.sleep_for(1h);
        done = true;
    };
    group.spawn("signal", wait_signal(signal, finished));
    group.spawn("sleep", sleep_long(clock, finished));
    context.poll();
    bool stopped = false;
    auto stop = [](TaskGroup& g, bool& done) -> Task<void> {
        co_await g.stop();
        done = true;
    };
    asio::co_spawn(context, stop(group, stopped), asio::detached);
    context.restart();
    context.poll();
    EXPECT_TRUE(stopped);
    EXPECT_FALSE(finished);
    EXPECT_EQ(clock.now().time_since_epoch(), Duration(0));
}

TEST_F(TaskGroupTest, TaskStartsAfterSpawnHasReturned) {
    bool started = false;
    auto task = [](bool& flag) -> Task<void> {
        flag = true;
        co_return;
    };
    bool started_inside = true;
    asio::post(context, [&] {
        group.spawn("task", task(started));
        started_inside = started;
    });
    context.poll();
    EXPECT_FALSE(started_inside);
    EXPECT_TRUE(started);
}

TEST_F(TaskGroupTest, NotifyWakesEveryWaiter) {
    Signal signal(context.get_executor());
    int woken = 0;
    auto wait = [](Signal& s, int& count) -> Task<void> {
        co_await s.wait();
        ++count;
    };
    group.spawn("a", wait(signal, woken));
    group.spawn("b", wait(signal, woken));
    context.poll();
    EXPECT_EQ(woken, 0);
    signal.notify_all();
    context.restart();
    context.poll();
    EXPECT_EQ(woken, 2);
}

}  // namespace
}  // namespace muster
