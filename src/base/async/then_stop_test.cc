#include "base/async/then_stop.h"

#include <gtest/gtest.h>

#include <boost/system/system_error.hpp>
#include <stdexcept>

#include "base/test_loop.h"
#include "base/time/time_limit.h"

namespace muster::then_stop_test {
namespace {

using namespace std::chrono_literals;

class ThenStop : public ::testing::Test, protected SimulatedLoop {
  protected:
    /// Ends `pause` after it was cancelled.
    Task<void> linger(Duration pause) {
        ++running;
        try {
            co_await clock.sleep_for(1h);
        } catch (const boost::system::system_error&) {
        }
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await clock.sleep_for(pause);
        --running;
    }

    Task<void> work(Duration time, bool throws) {
        co_await clock.sleep_for(time);
        if (throws) throw std::out_of_range("thrown");
    }

    /// Once, with a group of its own.
    Task<void> once(Duration time, bool throws) {
        TaskGroup group(context.get_executor());
        group.spawn("one that lingers", linger(100ms));
        co_await then_stop(work(time, throws), group);
        EXPECT_EQ(running, 0);
        ++ended;
    }
    Task<bool> twice() {
        co_await once(1s, false);
        co_await once(1s, false);
        co_return true;
    }

    int running = 0;
    int ended = 0;
};

TEST_F(ThenStop, TheGroupEndsAfterTheTask) {
    const Instant begin = clock.now();
    await(once(1s, false));
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(clock.now() - begin, 1100ms);
}

TEST_F(ThenStop, WhatTheTaskThrowsIsThrownWhenTheGroupHasEnded) {
    EXPECT_THROW(await(once(1s, true)), std::out_of_range);
    EXPECT_EQ(running, 0);
}

// At each moment: in the task, while the group ends, and the same in the second round.
TEST_F(ThenStop, TheCallerCanBeCancelledAtAnyMoment) {
    for (Duration when : {500ms, 1050ms, 1500ms, 2150ms}) {
        ended = 0;
        EXPECT_FALSE(await(within(clock, when, twice()))) << when.count();
        EXPECT_EQ(running, 0) << "nothing is left, " << when.count();
        EXPECT_EQ(ended, when > 1100ms ? 1 : 0) << when.count();
    }
}

// Both end at once: the task, and the time after which its caller is cancelled.
TEST_F(ThenStop, ACancellationThatComesWithTheEndOfTheTaskIsNotLost) {
    EXPECT_FALSE(await(within(clock, 1s, twice())));
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(running, 0);
}

}  // namespace
}  // namespace muster::then_stop_test
