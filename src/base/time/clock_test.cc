#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "base/async/cancellation.h"
#include "base/async/task_group.h"
#include "base/test_clock.h"
#include "base/time/real_clock.h"
#include "base/time/sim_clock.h"

namespace muster::clock_test {
namespace {

using namespace std::chrono_literals;

// The contract of the Clock seam, for every implementation.
struct RealWorld {
    asio::io_context context;
    RealClock clock;
    void run() { context.run(); }
};
struct SimulatedWorld {
    asio::io_context context;
    SimClock clock;
    void run() { run_simulation(context, clock); }
};
struct LeapingWorld {
    asio::io_context context;
    LeapingClock clock{context.get_executor()};
    void run() { context.run(); }
};

template <class World>
class ClockContract : public ::testing::Test {
  protected:
    World world;
};
using Worlds = ::testing::Types<RealWorld, SimulatedWorld, LeapingWorld>;
TYPED_TEST_SUITE(ClockContract, Worlds);

TYPED_TEST(ClockContract, ASleepEndsAtItsDeadlineOrLater) {
    Clock& clock = this->world.clock;
    const Instant deadline = clock.now() + 2ms;
    Instant woken{};
    auto sleep = [](Clock& c, Instant until, Instant& at) -> Task<void> {
        co_await c.sleep_until(until);
        at = c.now();
    };
    asio::co_spawn(this->world.context, sleep(clock, deadline, woken), asio::detached);
    this->world.run();
    EXPECT_GE(woken, deadline);
}

TYPED_TEST(ClockContract, ADeadlineInThePastYieldsOnceAndReturns) {
    Clock& clock = this->world.clock;
    int laps = 0;
    auto loop = [](Clock& c, int& count) -> Task<void> {
        for (; count < 3; ++count) co_await c.sleep_until(c.now() - 1s);
    };
    asio::co_spawn(this->world.context, loop(clock, laps), asio::detached);
    this->world.run();
    EXPECT_EQ(laps, 3);
}

TYPED_TEST(ClockContract, TheEarlierDeadlineWakesFirst) {
    Clock& clock = this->world.clock;
    std::string order;
    auto sleep = [](Clock& c, Instant until, std::string& log, char id) -> Task<void> {
        co_await c.sleep_until(until);
        log += id;
    };
    const Instant start = clock.now();
    asio::co_spawn(this->world.context, sleep(clock, start + 4ms, order, 'b'), asio::detached);
    asio::co_spawn(this->world.context, sleep(clock, start + 2ms, order, 'a'), asio::detached);
    this->world.run();
    EXPECT_EQ(order, "ab");
}

TYPED_TEST(ClockContract, ACalendarSleepEndsAtItsDeadlineOrLater) {
    Clock& clock = this->world.clock;
    const WallTime deadline = clock.wall_now() + 2ms;
    WallTime woken{};
    auto sleep = [](Clock& c, WallTime until, WallTime& at) -> Task<void> {
        co_await c.sleep_until_wall(until);
        at = c.wall_now();
    };
    asio::co_spawn(this->world.context, sleep(clock, deadline, woken), asio::detached);
    this->world.run();
    EXPECT_GE(woken, deadline);
}

TYPED_TEST(ClockContract, ACalendarDeadlineInThePastYieldsOnceAndReturns) {
    Clock& clock = this->world.clock;
    std::string order;
    auto loop = [](Clock& c, WallTime until, std::string& log) -> Task<void> {
        for (int lap = 0; lap < 3; ++lap) {
            log += 'a';
            co_await c.sleep_until_wall(until);
        }
    };
    auto other = [](std::string& log) -> Task<void> {
        log += 'b';
        co_return;
    };
    for (const WallTime past : {clock.wall_now(), clock.wall_now() - 1h, WallTime{}}) {
        order.clear();
        asio::co_spawn(this->world.context, loop(clock, past, order), asio::detached);
        asio::co_spawn(this->world.context, other(order), asio::detached);
        this->world.run();
        this->world.context.restart();
        EXPECT_EQ(order, "abaa");
    }
}

TYPED_TEST(ClockContract, ACancelledSleepThrowsAndTheOthersSleepOn) {
    Clock& clock = this->world.clock;
    TaskGroup cancelled(this->world.context.get_executor());
    std::vector<std::string> ends;
    auto sleep = [](Task<void> until, std::vector<std::string>& log) -> Task<void> {
        try {
            co_await std::move(until);
            log.push_back("woken");
        } catch (const boost::system::system_error& error) {
            log.push_back(is_cancellation(error.code()) ? "aborted" : "other");
            throw;
        }
    };
    cancelled.spawn("hour", sleep(clock.sleep_for(1h), ends));
    cancelled.spawn("for ever", sleep(clock.sleep_until(Instant::max()), ends));
    cancelled.spawn("hour", sleep(clock.sleep_until_wall(clock.wall_now() + 1h), ends));
    cancelled.spawn("for ever", sleep(clock.sleep_until_wall(WallTime::max()), ends));
    auto cancel = [](Clock& c, TaskGroup& group) -> Task<void> {
        co_await c.sleep_for(2ms);
        co_await group.stop();
    };
    asio::co_spawn(this->world.context, cancel(clock, cancelled), asio::detached);
    asio::co_spawn(this->world.context, sleep(clock.sleep_for(6ms), ends), asio::detached);
    asio::co_spawn(this->world.context, sleep(clock.sleep_until_wall(clock.wall_now() + 8ms), ends),
                   asio::detached);
    this->world.run();
    std::ranges::sort(ends);
    EXPECT_EQ(ends, (std::vector<std::string>{"aborted", "aborted", "aborted", "aborted", "woken",
                                              "woken"}));
}

TEST(LeapingClockTest, ALeapWakesThoseWhoAreDueByThenAndTheOthersSleepOn) {
    LeapingWorld world;
    std::string woken;
    auto sleep = [](Task<void> until, std::string& log, char id) -> Task<void> {
        co_await std::move(until);
        log += id;
    };
    LeapingClock& clock = world.clock;
    const Instant start = clock.now();
    const WallTime wall_start = clock.wall_now();
    TaskGroup sleepers(world.context.get_executor());
    sleepers.spawn("hour", sleep(clock.sleep_for(1h), woken, 'a'));
    sleepers.spawn("hour", sleep(clock.sleep_until_wall(wall_start + 1h), woken, 'b'));
    sleepers.spawn("day", sleep(clock.sleep_for(24h), woken, 'c'));
    sleepers.spawn("day", sleep(clock.sleep_until_wall(wall_start + 24h), woken, 'd'));
    auto leap = [](LeapingClock& c, TaskGroup& group, std::string& log) -> Task<void> {
        co_await c.sleep_for(1ms);
        EXPECT_EQ(log, "");
        c.leap(1h);
        while (log.size() < 2) co_await c.sleep_for(1ms);
        co_await c.sleep_for(1ms);
        co_await group.stop();
    };
    asio::co_spawn(world.context, leap(clock, sleepers, woken), asio::detached);
    world.run();
    std::ranges::sort(woken);
    EXPECT_EQ(woken, "ab");
    EXPECT_GE(clock.now(), start + 1h);
    EXPECT_GE(clock.wall_now(), wall_start + 1h);
}

TEST(SimClockTest, TimeStandsStillUntilMovedAndWallTimeFollows) {
    SimClock clock(WallTime(1000s));
    const Instant start = clock.now();
    EXPECT_EQ(clock.wall_now(), WallTime(1000s));
    clock.advance_to(start + 5s);
    EXPECT_EQ(clock.now(), start + 5s);
    EXPECT_EQ(clock.wall_now(), WallTime(1005s));
    clock.skew_wall(-60s);
    EXPECT_EQ(clock.wall_now(), WallTime(945s));
    EXPECT_EQ(clock.now(), start + 5s);
}

TEST(SimClockTest, RunStopsAtTheLimitAndLeavesLaterSleepersAsleep) {
    asio::io_context context;
    SimClock clock;
    int woken = 0;
    auto sleep = [](Clock& c, Duration d, int& count) -> Task<void> {
        co_await c.sleep_for(d);
        ++count;
    };
    asio::co_spawn(context, sleep(clock, 1s, woken), asio::detached);
    asio::co_spawn(context, sleep(clock, 1h, woken), asio::detached);
    run_simulation(context, clock, Instant(1min));
    EXPECT_EQ(woken, 1);
    EXPECT_EQ(clock.now(), Instant(1min));
    run_simulation(context, clock);
    EXPECT_EQ(woken, 2);
}

// What the calendar does to those who sleep by it. A real clock can't be set in a test.
class SteppedCalendar : public ::testing::Test {
  public:
    /// Spawns a sleep until the calendar shows `left` more than now; notes when it ended.
    void sleep(Duration left, char id) {
        auto task = [](SteppedCalendar& test, WallTime until, char name) -> Task<void> {
            co_await test.clock.sleep_until_wall(until);
            EXPECT_GE(test.clock.wall_now(), until);
            test.woken += fmt::format("{}@{} ", name, seconds(test.clock));
        };
        asio::co_spawn(context, task(*this, clock.wall_now() + left, id), asio::detached);
        context.restart();
        context.poll();
    }
    void run_until(Duration time) { run_simulation(context, clock, Instant(time)); }
    static std::int64_t seconds(const SimClock& clock) {
        return clock.now().time_since_epoch() / 1s;
    }

    asio::io_context context;
    SimClock clock;
    std::string woken;
};

TEST_F(SteppedCalendar, AJumpOverADeadlineWakesAtTheJump) {
    sleep(100s, 'c');
    sleep(60s, 'b');
    sleep(30s, 'a');
    run_until(10s);
    EXPECT_EQ(woken, "");
    clock.skew_wall(50s);
    run_until(10s);
    EXPECT_EQ(woken, "a@10 b@10 ");
    EXPECT_EQ(clock.next_deadline(), Instant(50s));
    run_simulation(context, clock);
    EXPECT_EQ(woken, "a@10 b@10 c@50 ");
}

TEST_F(SteppedCalendar, AJumpBackLetsThemSleepLonger) {
    sleep(30s, 'a');
    run_until(10s);
    clock.skew_wall(-20s);
    EXPECT_EQ(clock.next_deadline(), Instant(50s));
    run_until(49s);
    EXPECT_EQ(woken, "");
    run_simulation(context, clock);
    EXPECT_EQ(woken, "a@50 ");
}

TEST_F(SteppedCalendar, AJumpBackBeforeTheSleeperHasRunSendsItToSleepAgain) {
    sleep(30s, 'a');
    clock.skew_wall(40s);
    clock.skew_wall(-40s);
    run_until(29s);
    EXPECT_EQ(woken, "");
    run_simulation(context, clock);
    EXPECT_EQ(woken, "a@30 ");
}

TEST_F(SteppedCalendar, AStepDoesNotTouchThoseWhoSleepByTheMonotonicClock) {
    auto task = [](SteppedCalendar& test) -> Task<void> {
        co_await test.clock.sleep_for(30s);
        test.woken += fmt::format("m@{} ", seconds(test.clock));
    };
    asio::co_spawn(context, task(*this), asio::detached);
    context.poll();
    clock.skew_wall(1h);
    run_until(29s);
    EXPECT_EQ(woken, "");
    clock.skew_wall(-2h);
    run_simulation(context, clock);
    EXPECT_EQ(woken, "m@30 ");
}

TEST_F(SteppedCalendar, EqualMomentsWakeInTheOrderInWhichTheyWentToSleep) {
    auto by_monotonic = [](SteppedCalendar& test, char id) -> Task<void> {
        co_await test.clock.sleep_for(30s);
        test.woken += fmt::format("{}@{} ", id, seconds(test.clock));
    };
    sleep(30s, 'a');
    asio::co_spawn(context, by_monotonic(*this, 'b'), asio::detached);
    sleep(30s, 'c');
    asio::co_spawn(context, by_monotonic(*this, 'd'), asio::detached);
    sleep(29s, 'e');
    run_simulation(context, clock);
    EXPECT_EQ(woken, "e@29 a@30 b@30 c@30 d@30 ");
}

TEST_F(SteppedCalendar, WhoSleepsForEverDoesNotKeepTheSimulationGoing) {
    asio::co_spawn(
        context,
        [](SimClock& c) -> Task<void> { co_await c.sleep_until_wall(WallTime::max()); }(clock),
        asio::detached);
    run_simulation(context, clock);
    EXPECT_EQ(clock.now(), Instant{});
}

}  // namespace
}  // namespace muster::clock_test
