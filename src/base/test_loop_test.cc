#include "base/test_loop.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <stdexcept>
#include <string>

#include "base/async/signal.h"

namespace muster::test_loop_test {
namespace {

using namespace std::chrono_literals;

template <class Loop>
class TestLoopContract : public ::testing::Test {
  protected:
    Loop loop;
};
using Loops = ::testing::Types<SimulatedLoop, RealLoop>;
TYPED_TEST_SUITE(TestLoopContract, Loops);

TYPED_TEST(TestLoopContract, AwaitReturnsTheValueOfATaskThatWaits) {
    auto task = [](Clock& clock) -> Task<std::string> {
        co_await clock.sleep_for(1ms);
        co_return "value";
    };
    EXPECT_EQ(this->loop.await(task(this->loop.clock)), "value");
    EXPECT_EQ(this->loop.await(task(this->loop.clock)), "value") << "and again";
}

TYPED_TEST(TestLoopContract, AwaitThrowsWhatTheTaskThrew) {
    auto nothing = [](Clock& clock) -> Task<void> {
        co_await clock.sleep_for(1ms);
        throw std::out_of_range("thrown");
    };
    auto number = [](Clock& clock) -> Task<int> {
        co_await clock.sleep_for(1ms);
        throw std::out_of_range("thrown");
    };
    EXPECT_THROW(this->loop.await(nothing(this->loop.clock)), std::out_of_range);
    EXPECT_THROW(this->loop.await(number(this->loop.clock)), std::out_of_range);
}

TYPED_TEST(TestLoopContract, WhatNeverHappensIsToldAndNotWaitedFor) {
    auto& loop = this->loop;
    EXPECT_THROW(loop.run_until([] { return false; }), std::logic_error) << "nothing is going on";
    auto late = [](Signal& signal) -> Task<int> {
        co_await signal.wait();
        co_return 1;
    };
    if constexpr (std::is_same_v<TypeParam, SimulatedLoop>) {
        Signal signal(loop.context.get_executor());
        EXPECT_THROW(loop.await(late(signal)), std::logic_error);
        signal.notify_all();
        loop.settle();  // the task that was given up ends after all
    }
}

TEST(SimulatedLoopTest, TimePassesOnlyAsFarAsNeeded) {
    SimulatedLoop loop;
    auto sleep = [](Clock& clock, Duration time) -> Task<void> { co_await clock.sleep_for(time); };
    asio::co_spawn(loop.context, sleep(loop.clock, 1h), [](std::exception_ptr) {});
    loop.await(sleep(loop.clock, 3s));
    EXPECT_EQ(loop.clock.now(), Instant(3s));
    loop.settle();
    EXPECT_EQ(loop.clock.now(), Instant(3s));
    loop.advance(2s);
    EXPECT_EQ(loop.clock.now(), Instant(5s));
}

}  // namespace
}  // namespace muster::test_loop_test
