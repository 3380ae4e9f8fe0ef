#include "agent/store/burst.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>

#include "base/task_group.h"
#include "base/test_loop.h"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;

class BurstTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    BurstTest() { tasks.spawn("burst", burst.stay_awake()); }
    void TearDown() override { await(tasks.stop()); }

    Duration others_take{0};
    Burst burst{context.get_executor(), clock,
                [this] { clock.advance_to(clock.now() + others_take); }};
    TaskGroup tasks{context.get_executor()};
};

TEST_F(BurstTest, RequestsNowAndThenKeepNothingAwake) {
    for (int i = 0; i < 3; ++i) {
        burst.stir();
        EXPECT_FALSE(burst.awake()) << i;
        await(clock.sleep_for(1ms));
    }
}

TEST_F(BurstTest, ThoseThatFollowCloselyDoForAWhile) {
    for (int i = 0; i < 2; ++i) {
        burst.stir();
        burst.stir();
        EXPECT_TRUE(burst.awake()) << i;
        settle();
        EXPECT_FALSE(burst.awake()) << "nobody asked again";
        await(clock.sleep_for(1ms));
    }
}

TEST_F(BurstTest, NobodyStaysAwakeWhereProcessorsAreBusy) {
    settle();
    others_take = 3ms;
    burst.stir();
    burst.stir();
    EXPECT_TRUE(burst.awake());
    const Instant begin = clock.now();
    settle();
    EXPECT_EQ(clock.now() - begin, 3ms) << "it gave way once";
    burst.stir();
    burst.stir();
    EXPECT_FALSE(burst.awake());
    await(clock.sleep_for(1s));
    burst.stir();
    burst.stir();
    EXPECT_TRUE(burst.awake());
}

TEST_F(BurstTest, OthersRunMeanwhile) {
    settle();
    burst.stir();
    burst.stir();
    bool ran = false;
    asio::post(context, [&] { asio::post(context, [&] { ran = burst.awake(); }); });
    settle();
    EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace muster::agent
