#include "operator/internal/write_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/detached.hpp>

#include "base/sim_clock.h"

namespace muster::operators {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

class WriteBatchTest : public ::testing::Test {
  protected:
    Task<void> write(int id, Duration duration) {
        begun.push_back(id);
        most = std::max(most, ++running);
        co_await clock.sleep_for(duration);
        --running;
        ended.push_back(id);
    }
    Task<void> run(std::vector<Task<void>> writes, int parallel) {
        co_await run_writes(tasks, std::move(writes), parallel);
        done = true;
    }

    asio::io_context context;
    SimClock clock;
    TaskGroup tasks{context.get_executor()};
    std::vector<int> begun;
    std::vector<int> ended;
    int running = 0;
    int most = 0;
    bool done = false;
};

TEST_F(WriteBatchTest, BeginsInOrderAndKeepsToTheLimit) {
    std::vector<Task<void>> writes;
    writes.push_back(write(0, 30ms));
    writes.push_back(write(1, 10ms));
    writes.push_back(write(2, 10ms));
    writes.push_back(write(3, 40ms));
    asio::co_spawn(context, run(std::move(writes), 2), asio::detached);
    run_simulation(context, clock);
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(ended, ElementsAre(1, 2, 0, 3));
    EXPECT_EQ(most, 2);
    EXPECT_TRUE(done);
    EXPECT_EQ(clock.now().time_since_epoch(), Duration(60ms));
}

TEST_F(WriteBatchTest, NothingToDoIsDoneAtOnce) {
    asio::co_spawn(context, run({}, 2), asio::detached);
    context.poll();
    EXPECT_TRUE(done);
}

TEST_F(WriteBatchTest, StoppingTheGroupEndsAll) {
    std::vector<Task<void>> writes;
    for (int id = 0; id < 5; ++id) writes.push_back(write(id, 1h));
    tasks.spawn("waiter", run(std::move(writes), 3));
    context.poll();
    EXPECT_EQ(begun.size(), 3u);
    asio::co_spawn(context, tasks.stop(), asio::detached);
    context.restart();
    context.poll();
    EXPECT_EQ(tasks.size(), 0u);
    EXPECT_FALSE(done);
    EXPECT_TRUE(ended.empty());
}

}  // namespace
}  // namespace muster::operators
