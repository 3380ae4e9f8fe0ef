#include "base/time/time_limit.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/async/task_group.h"
#include "base/test_loop.h"

namespace muster::time_limit_test {
namespace {

using namespace std::chrono_literals;

class TimeLimit : public ::testing::Test, protected SimulatedLoop {
  protected:
    Task<int> answer_after(Duration time) {
        co_await clock.sleep_for(time);
        ++answered_;
        co_return 7;
    }
    Task<int> fail_after(Duration time) {
        co_await clock.sleep_for(time);
        throw std::runtime_error("no answer");
    }
    Task<void> wait_for_answer() { limited_ = co_await within(clock, 10s, answer_after(5s)); }

    int answered_ = 0;
    std::optional<int> limited_;
};

TEST_F(TimeLimit, WhatEndsInTimeHasItsValue) {
    EXPECT_EQ(await(within(clock, 10s, answer_after(9s))), 7);
    EXPECT_EQ(await(within(clock, 10s, answer_after(0s))), 7);
}

TEST_F(TimeLimit, WhatIsLateIsCancelled) {
    const Instant began = clock.now();
    EXPECT_EQ(await(within(clock, 10s, answer_after(11s))), std::nullopt);
    EXPECT_EQ(clock.now() - began, 10s);
    advance(1h);
    EXPECT_EQ(answered_, 0);
}

TEST_F(TimeLimit, WhatATaskThrowsIsThrownWhenItIsThrown) {
    const Instant began = clock.now();
    EXPECT_THROW(await(within(clock, 10s, fail_after(1s))), std::runtime_error);
    EXPECT_EQ(clock.now() - began, 1s);
}

TEST_F(TimeLimit, AGroupThatStopsEndsBoth) {
    TaskGroup tasks(context.get_executor());
    tasks.spawn_essential("limited", wait_for_answer());
    advance(1s);
    await(tasks.stop());  // aborts if anything but operation_aborted is thrown
    advance(1h);
    EXPECT_EQ(answered_, 0);
    EXPECT_EQ(limited_, std::nullopt);
}

}  // namespace
}  // namespace muster::time_limit_test
