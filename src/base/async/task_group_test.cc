#include "base/async/task_group.h"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/async/run_loop.h"
#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/time/sim_clock.h"
#include "base/unexpected.h"

namespace muster::task_group_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

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

Task<void> throws(int what) {
    if (what == 0) throw std::runtime_error("this was not expected");
    throw what;  // NOLINT(hicpp-exception-baseclass)
    co_return;
}

TEST_F(TaskGroupTest, ATaskThatThrowsEndsAloneAndWhoWaitsForItIsTold) {
    std::vector<std::string> logged;
    log::set_sink([&](log::Level, std::string_view line) { logged.emplace_back(line); });
    std::vector<std::string> told;
    int ended = 0;
    const auto work = [](SimClock& c, int& count) -> Task<void> {
        co_await c.sleep_for(1s);
        ++count;
    };
    const auto tell = [&](const std::string& what) { told.push_back(what); };
    group.spawn("fails", throws(0), tell);
    group.spawn("throws what is no exception", throws(1), tell);
    group.spawn("fails unheard", throws(0));
    group.spawn("fails, and its owner too", throws(0),
                [](const std::string&) { throw std::runtime_error("again"); });
    group.spawn("works", work(clock, ended), tell);
    run_simulation(context, clock);
    log::set_sink({});

    EXPECT_EQ(ended, 1);
    EXPECT_EQ(group.size(), 0u);
    ASSERT_EQ(told.size(), 2u);
    ASSERT_EQ(logged.size(), 5u);
    EXPECT_THAT(logged[0], HasSubstr("where=fails error=\"this was not expected\""));
    // The message leads to the line in the log.
    const std::string id = told[0].substr(told[0].rfind(' ') + 1);
    EXPECT_THAT(logged[0], HasSubstr("id=" + id));
    EXPECT_NE(told[0], told[1]);
}

TEST_F(TaskGroupTest, ACancellationIsNoFailure) {
    const auto sleep = [](SimClock& c) -> Task<void> { co_await c.sleep_for(1h); };
    bool told = false;
    group.spawn("sleeps", sleep(clock), [&](const std::string&) { told = true; });
    context.poll();
    group.cancel();
    run_simulation(context, clock);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_FALSE(told);
}

TEST_F(TaskGroupTest, WithoutAnEssentialTaskTheProcessEnds) {
    const auto run = [&] {
        group.spawn_essential("accepts", throws(0));
        run_simulation(context, clock);
    };
    EXPECT_DEATH(run(), "accepts.*this was not expected");
}

TEST_F(TaskGroupTest, ATestCanLetTasksFailByTheirNames) {
    int ended = 0;
    std::string told;
    const auto work = [](int& count) -> Task<void> {
        ++count;
        co_return;
    };
    {
        const TaskFault fault("one");
        group.spawn("one", work(ended), [&](const std::string& what) { told = what; });
        group.spawn("two", work(ended));
        run_simulation(context, clock);
        EXPECT_EQ(fault.hits(), 1u);
    }
    EXPECT_EQ(ended, 1);
    EXPECT_FALSE(told.empty());
    group.spawn("one", work(ended));
    run_simulation(context, clock);
    EXPECT_EQ(ended, 2);
}

TEST(RunLoopTest, AHandlerThatThrowsDoesNotEndTheLoop) {
    asio::io_context context;
    int handled = 0;
    asio::post(context, [&] { ++handled; });
    asio::post(context, [] { throw std::runtime_error("a handler's fault"); });
    asio::post(context, [&] { ++handled; });
    std::vector<std::string> logged;
    log::set_sink([&](log::Level, std::string_view line) { logged.emplace_back(line); });
    run_loop(context);
    log::set_sink({});
    EXPECT_EQ(handled, 2);
    ASSERT_EQ(logged.size(), 1u);
    EXPECT_THAT(logged[0], HasSubstr("a handler's fault"));
}

TEST(UnexpectedTest, SimulationsEndWithWhatIsUnexpected) {
    const UnexpectedEndsProcess ends;
    EXPECT_DEATH((void)contained("a callback", [] { throw std::runtime_error("a fault"); }),
                 "a callback.*a fault");
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
}  // namespace muster::task_group_test
