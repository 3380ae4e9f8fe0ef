#include "base/async/side_thread.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/async/task_group.h"
#include "base/test_loop.h"

namespace muster {
namespace {

using ThreadId = decltype(std::this_thread::get_id());

TEST(SideThread, ComputesOnAnotherThreadAndContinuesOnTheLoop) {
    RealLoop loop;
    SideThread thread;
    ThreadId computed;
    ThreadId continued;
    const std::string answer =
        loop.await([](SideThread& side, ThreadId& there, ThreadId& here) -> Task<std::string> {
            std::string made = co_await side.run([&there] {
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
        ended.push_back(co_await side.run([&latch, number] {
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

TEST(SideThread, PassesAnExceptionOn) {
    RealLoop loop;
    SideThread thread;
    EXPECT_THROW(loop.await(thread.run([]() -> int { throw std::runtime_error("a fault"); })),
                 std::runtime_error);
}

TEST(SideThread, IsUsedOnlyWhereItIsWorthIt) {
    RealLoop loop;
    SideThread thread;
    const auto here = [] { return std::this_thread::get_id(); };
    const ThreadId loops = std::this_thread::get_id();
    EXPECT_EQ(loop.await(compute_beside(nullptr, 10 * kWorthSideThread, here)), loops);
    EXPECT_EQ(loop.await(compute_beside(&thread, kWorthSideThread - 1, here)), loops);
    EXPECT_NE(loop.await(compute_beside(&thread, kWorthSideThread, here)), loops);
}

}  // namespace
}  // namespace muster
