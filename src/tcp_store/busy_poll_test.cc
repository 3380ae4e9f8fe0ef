#include "tcp_store/busy_poll.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>

#include "base/async/task_group.h"
#include "base/test_loop.h"

namespace muster::tcp_store::busy_poll_test {
namespace {

using namespace std::chrono_literals;

class BurstTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    BurstTest() { tasks.spawn("burst", busy_poll.stay_awake()); }
    void TearDown() override { await(tasks.stop()); }

    Duration others_take{0};
    BusyPoll busy_poll{context.get_executor(), clock,
                       [this] { clock.advance_to(clock.now() + others_take); }};
    TaskGroup tasks{context.get_executor()};
};

TEST_F(BurstTest, RequestsNowAndThenKeepNothingAwake) {
    for (int i = 0; i < 3; ++i) {
        busy_poll.note_activity();
        EXPECT_FALSE(busy_poll.awake()) << i;
        await(clock.sleep_for(1ms));
    }
}

TEST_F(BurstTest, ThoseThatFollowCloselyDoForAWhile) {
    for (int i = 0; i < 2; ++i) {
        busy_poll.note_activity();
        busy_poll.note_activity();
        EXPECT_TRUE(busy_poll.awake()) << i;
        settle();
        EXPECT_FALSE(busy_poll.awake()) << "no client asked again";
        await(clock.sleep_for(1ms));
    }
}

TEST_F(BurstTest, NobodyStaysAwakeWhereProcessorsAreBusy) {
    settle();
    others_take = 3ms;
    busy_poll.note_activity();
    busy_poll.note_activity();
    EXPECT_TRUE(busy_poll.awake());
    const Instant begin = clock.now();
    settle();
    EXPECT_EQ(clock.now() - begin, 3ms) << "it gave way once";
    busy_poll.note_activity();
    busy_poll.note_activity();
    EXPECT_FALSE(busy_poll.awake());
    await(clock.sleep_for(1s));
    busy_poll.note_activity();
    busy_poll.note_activity();
    EXPECT_TRUE(busy_poll.awake());
}

TEST_F(BurstTest, OthersRunMeanwhile) {
    settle();
    busy_poll.note_activity();
    busy_poll.note_activity();
    bool ran = false;
    asio::post(context, [&] { asio::post(context, [&] { ran = busy_poll.awake(); }); });
    settle();
    EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace muster::tcp_store::busy_poll_test
