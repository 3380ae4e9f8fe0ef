#include "base/async/side_thread.h"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/async/task_group.h"
#include "base/test_loop.h"

namespace muster::side_thread_test {
namespace {

using ThreadId = decltype(std::this_thread::get_id());

TEST(SideThread, ComputesOnAnotherThreadAndContinuesOnTheLoop) {
    RealLoop loop;
    SideThread thread;
    ThreadId computed;
    ThreadId continued;
    const std::string answer =
        loop.await([](SideThread& side, ThreadId& there, ThreadId& here) -> Task<std::string> {
            std::string made = co_await side.run("test", [&there] {
                there = std::this_thread::get_id();
                return std::string("made");
            });
            here = std::this_thread::get_id();
            co_return made;
        }(thread, computed, continued));
    EXPECT_EQ(answer, "made");
    EXPECT_EQ(continued, std::this_thread::get_id());
    EXPECT_NE(computed, std::this_thread::get_id());
}

TEST(SideThread, LeavesTheLoopToOthersAndComputesInOrder) {
    RealLoop loop;
    SideThread thread;
    std::latch released(1);
    std::vector<int> order;
    TaskGroup tasks(loop.context.get_executor());
    const auto compute = [](SideThread& side, std::latch& latch, std::vector<int>& ended,
                            int number) -> Task<void> {
        ended.push_back(co_await side.run("test", [&latch, number] {
            latch.wait();
            return number;
        }));
    };
    tasks.spawn("first", compute(thread, released, order, 1));
    tasks.spawn("second", compute(thread, released, order, 2));
    // Both wait for what only the loop does.
    asio::post(loop.context, [&] { asio::post(loop.context, [&] { released.count_down(); }); });
    loop.await(tasks.join());
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

/// Whose caller is cancelled, and gone before the thread comes to what it had queued behind that.
TEST(SideThread, EndsWhatACancelledCallerWaitsFor) {
    RealLoop loop;
    SideThread thread;
    std::latch first_released(1);
    std::latch second_released(1);
    asio::cancellation_signal cancelled;
    int ended = 0;
    const auto compute = [](SideThread& side, std::latch& latch) -> Task<void> {
        std::ignore = co_await side.run("test", [&latch] {
            latch.wait();
            return true;
        });
    };
    const auto end = [&ended](const std::exception_ptr&) { ++ended; };
    asio::co_spawn(loop.context, compute(thread, first_released),
                   asio::bind_cancellation_slot(cancelled.slot(), end));
    asio::co_spawn(loop.context, compute(thread, second_released), end);
    loop.context.poll();
    cancelled.emit(asio::cancellation_type::terminal);
    first_released.count_down();
    while (ended < 1) loop.context.run_one();
    loop.context.poll();
    second_released.count_down();
    while (ended < 2) loop.context.run_one();
    EXPECT_EQ(loop.await(thread.run("test", [] { return 3; })), 3);
}

TEST(SideThread, PassesAnExceptionOn) {
    RealLoop loop;
    SideThread thread;
    EXPECT_THROW(
        loop.await(thread.run("test", []() -> int { throw std::runtime_error("a fault"); })),
        std::runtime_error);
}

TEST(SideThread, IsUsedOnlyWhereItIsWorthIt) {
    RealLoop loop;
    SideThread thread;
    const auto here = [] { return std::this_thread::get_id(); };
    const ThreadId loops = std::this_thread::get_id();
    EXPECT_EQ(loop.await(compute_beside(nullptr, "test", 10 * kWorthSideThread, here)), loops);
    EXPECT_EQ(loop.await(compute_beside(&thread, "test", kWorthSideThread - 1, here)), loops);
    EXPECT_NE(loop.await(compute_beside(&thread, "test", kWorthSideThread, here)), loops);
}

}  // namespace
}  // namespace muster::side_thread_test
