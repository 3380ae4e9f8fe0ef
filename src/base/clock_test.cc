#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>

#include "base/real_clock.h"
#include "base/sim_clock.h"

namespace muster {
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

template <class World>
class ClockContract : public ::testing::Test {
  protected:
    World world;
};
using Worlds = ::testing::Types<RealWorld, SimulatedWorld>;
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

}  // namespace
}  // namespace muster
