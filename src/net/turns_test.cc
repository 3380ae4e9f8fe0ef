#include "net/internal/turns.h"

#include <gtest/gtest.h>

#include <list>
#include <string>

#include "base/async/task_group.h"
#include "base/test_loop.h"

namespace muster::net::turns_test {
namespace {

using namespace std::chrono_literals;

class TurnsTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    /// A task that needs a turn for some time.
    void come(char name, Duration time) {
        people_.emplace_back(context.get_executor());
        people_.back().spawn("somebody", use(name, time));
        settle();
    }
    Task<void> use(char name, Duration time) {
        Turns::Turn turn(turns_, context.get_executor());
        co_await turn.come();
        begun_ += name;
        co_await clock.sleep_for(time);
    }
    void TearDown() override {
        for (TaskGroup& one : people_) await(one.stop());
    }

    Turns turns_{clock, 2, 10s};
    std::list<TaskGroup> people_;
    std::string begun_;
};

TEST_F(TurnsTest, ComeInOrderAsOthersEnd) {
    come('a', 3s);
    come('b', 1s);
    come('c', 5s);
    come('d', 1s);
    EXPECT_EQ(begun_, "ab");
    advance(1s);
    EXPECT_EQ(begun_, "abc");
    advance(2s);
    EXPECT_EQ(begun_, "abcd");
}

TEST_F(TurnsTest, WhoWaitsNoMoreTakesNobodysPlace) {
    come('a', 3s);
    come('b', 3s);
    come('c', 3s);
    come('d', 3s);
    await(std::next(people_.begin(), 2)->stop());
    advance(3s);
    EXPECT_EQ(begun_, "abd");
}

TEST_F(TurnsTest, AHolderThatIsCancelledGivesItBack) {
    come('a', 5s);
    come('b', 5s);
    come('c', 5s);
    await(people_.front().stop());
    settle();
    EXPECT_EQ(begun_, "abc");
}

// Tasks that begin and never continue must not lock all others out.
TEST_F(TurnsTest, ThatLastTooLongKeepNobodyWaiting) {
    come('a', 1h);
    come('b', 1h);
    come('c', 1s);
    advance(10s);
    EXPECT_EQ(begun_, "ab");
    come('d', 1s);
    EXPECT_EQ(begun_.size(), 4u) << "both turns were over";
    come('e', 1s);
    EXPECT_EQ(begun_.size(), 4u);
    advance(1s);
    EXPECT_EQ(begun_.substr(4), "e");
}

}  // namespace
}  // namespace muster::net::turns_test
