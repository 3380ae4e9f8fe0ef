#include "base/async/stop.h"

#include <gtest/gtest.h>

#include <string>

#include "base/async/task_group.h"
#include "base/test_loop.h"

namespace muster::stop_test {
namespace {

using namespace std::chrono_literals;

class StopTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    Task<int> answer_after(Duration time) {
        co_await clock.sleep_for(time);
        ++answered_;
        co_return 7;
    }
    Task<int> fail() {
        co_await clock.sleep_for(1s);
        throw std::runtime_error("it failed");
    }
    Task<void> wait_for_answer() {
        outcome_ = co_await stop_.run(answer_after(5s));
        ++returned_;
        co_await clock.sleep_for(1s);  // as before: what was cancelled was the task alone
        ++returned_;
    }

    Stop stop_;
    int answered_ = 0;
    int returned_ = 0;
    std::optional<int> outcome_;
};

TEST_F(StopTest, WhatIsLeftAloneHasItsValue) {
    EXPECT_EQ(await(stop_.run(answer_after(5s))), 7);
    EXPECT_THROW(await(Stop().run(fail())), std::runtime_error);
}

TEST_F(StopTest, WhatIsAskedEndsThereAndThen) {
    TaskGroup tasks(context.get_executor());
    tasks.spawn("task", wait_for_answer());
    advance(2s);
    stop_.ask();
    settle();
    EXPECT_EQ(returned_, 1);
    advance(1h);
    EXPECT_EQ(returned_, 2);
    EXPECT_EQ(answered_, 0);
    EXPECT_EQ(outcome_, std::nullopt);
}

TEST_F(StopTest, WhatWasAskedBeforeDoesNotBegin) {
    stop_.ask();
    EXPECT_EQ(await(stop_.run(answer_after(0s))), std::nullopt);
    EXPECT_EQ(answered_, 0);
}

TEST_F(StopTest, AnAskAfterTheEndChangesNothing) {
    EXPECT_EQ(await(stop_.run(answer_after(5s))), 7);
    stop_.ask();
    EXPECT_EQ(await(answer_after(1s)), 7);
}

// Otherwise it would continue after its group has ended; or its caller would, as if it had been
// asked.
TEST_F(StopTest, ACancelledCallerEndsWithItsTask) {
    TaskGroup tasks(context.get_executor());
    tasks.spawn_essential("task", wait_for_answer());
    advance(1s);
    await(tasks.stop());  // aborts if anything but operation_aborted is thrown
    advance(1h);
    EXPECT_EQ(answered_, 0);
    EXPECT_EQ(returned_, 0);
}

}  // namespace
}  // namespace muster::stop_test
