#include "base/time/restarting_task.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <vector>

#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/test_loop.h"

namespace muster::restarting_task_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class RestartingTaskTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    RestartingTaskTest() {
        log::set_sink([this](log::Level, std::string_view line) { logged_.emplace_back(line); });
    }
    ~RestartingTaskTest() override {
        log::set_sink({});
        await(tasks_.stop());
    }

    /// Works for `works_for_` and throws, until it is to succeed.
    Task<void> work() {
        begun_.push_back(clock.now() - start_);
        co_await clock.sleep_for(works_for_);
        if (!succeeds_) throw std::runtime_error("a fault");
    }
    void spawn() {
        spawn_restarting(
            tasks_, clock, "serves", [this] { return work(); },
            [this](const std::string& what) { told_.push_back(what); });
    }

    TaskGroup tasks_{context.get_executor()};
    const Instant start_ = clock.now();
    Duration works_for_{};
    bool succeeds_ = false;
    std::vector<Duration> begun_;
    std::vector<std::string> told_;
    std::vector<std::string> logged_;
};

TEST_F(RestartingTaskTest, BeginsAgainAfterPausesThatGrowAndIsTold) {
    spawn();
    advance(16s);
    EXPECT_THAT(begun_, ElementsAre(0s, 1s, 3s, 7s, 15s));
    ASSERT_THAT(logged_, SizeIs(5));
    EXPECT_THAT(logged_[4], HasSubstr("where=serves error=\"a fault\""));
    const std::string id = told_.at(4).substr(told_[4].rfind(' ') + 1);
    EXPECT_THAT(logged_[4], HasSubstr("id=" + id));
    advance(1h);
    EXPECT_EQ(begun_.back() - begun_.at(begun_.size() - 2), kLongestRestartPause);
}

TEST_F(RestartingTaskTest, IsOverWhenItReturns) {
    spawn();
    settle();
    succeeds_ = true;
    advance(1h);
    EXPECT_THAT(begun_, ElementsAre(0s, 1s));
    EXPECT_EQ(tasks_.size(), 0u);
}

TEST_F(RestartingTaskTest, APauseIsShortAgainAfterATaskThatRanLong) {
    spawn();
    advance(20s);  // the next one begins after 31 s
    works_for_ = 2 * kLongestRestartPause;
    advance(12s + works_for_ + kFirstRestartPause);
    EXPECT_EQ(begun_.back(), 31s + works_for_ + kFirstRestartPause);
}

TEST_F(RestartingTaskTest, EndsWithItsGroupWhileItWorksAndInAPause) {
    works_for_ = 1min;
    spawn();
    settle();
    tasks_.cancel();
    advance(1h);
    EXPECT_THAT(begun_, SizeIs(1));
    works_for_ = {};
    spawn();
    settle();
    tasks_.cancel();
    advance(1h);
    EXPECT_THAT(begun_, SizeIs(2));
    EXPECT_EQ(tasks_.size(), 0u);
}

TEST_F(RestartingTaskTest, WorkMayThrowBeforeItHasMadeItsTask) {
    int asked = 0;
    spawn_restarting(tasks_, clock, "serves", [&]() -> Task<void> {
        if (++asked == 1) throw std::runtime_error("no task");
        return work();
    });
    succeeds_ = true;
    advance(1s);
    EXPECT_EQ(asked, 2);
    EXPECT_THAT(begun_, ElementsAre(1s));
}

TEST_F(RestartingTaskTest, ATestCanLetItFailByItsName) {
    succeeds_ = true;
    {
        const TaskFault fault("serves");
        spawn();
        advance(1s);
        EXPECT_EQ(fault.hits(), 2u);
        EXPECT_TRUE(begun_.empty());
    }
    advance(2s);
    EXPECT_THAT(begun_, ElementsAre(3s));
}

}  // namespace
}  // namespace muster::restarting_task_test
