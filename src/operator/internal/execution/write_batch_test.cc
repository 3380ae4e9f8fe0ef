#include "operator/internal/execution/write_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/time/sim_clock.h"

namespace muster::operators::write_batch_test {
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
    Task<void> run(std::vector<Write> writes, int parallel,
                   std::function<BeforeWrite()> look = nullptr) {
        all = co_await run_writes(tasks, std::move(writes), parallel, std::move(look));
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
    bool all = false;
};

TEST_F(WriteBatchTest, BeginsInOrderAndKeepsToTheLimit) {
    std::vector<Write> writes;
    writes.emplace_back([=, this] { return write(0, 30ms); });
    writes.emplace_back([=, this] { return write(1, 10ms); });
    writes.emplace_back([=, this] { return write(2, 10ms); });
    writes.emplace_back([=, this] { return write(3, 40ms); });
    asio::co_spawn(context, run(std::move(writes), 2), asio::detached);
    run_simulation(context, clock);
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(ended, ElementsAre(1, 2, 0, 3));
    EXPECT_EQ(most, 2);
    EXPECT_TRUE(done);
    EXPECT_EQ(clock.now().time_since_epoch(), Duration(60ms));
}

TEST_F(WriteBatchTest, NothingToDoIsDoneAtOnce) {
    asio::co_spawn(context, run({}, 2, [] { return BeforeWrite{.enough = true}; }), asio::detached);
    context.poll();
    EXPECT_TRUE(done);
    EXPECT_TRUE(all);
}

TEST_F(WriteBatchTest, EnoughEndsItOnceWhatWasBegunIsDone) {
    std::vector<Write> writes;
    for (int id = 0; id < 6; ++id) writes.emplace_back([=, this] { return write(id, 10ms); });
    bool answer = false;
    const auto look = [&] {
        return BeforeWrite{.enough = std::exchange(answer, begun.size() == 3)};
    };
    asio::co_spawn(context, run(std::move(writes), 2, look), asio::detached);
    run_simulation(context, clock);
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 3)) << "asked before each, and no more after a yes";
    EXPECT_THAT(ended, ElementsAre(0, 1, 2, 3));
    EXPECT_TRUE(done);
    EXPECT_FALSE(all);
}

TEST_F(WriteBatchTest, EnoughAfterTheLastIsNone) {
    std::vector<Write> writes;
    for (int id = 0; id < 2; ++id) writes.emplace_back([=, this] { return write(id, 10ms); });
    const auto look = [&] { return BeforeWrite{.enough = begun.size() == 2}; };
    asio::co_spawn(context, run(std::move(writes), 1, look), asio::detached);
    run_simulation(context, clock);
    EXPECT_TRUE(done);
    EXPECT_TRUE(all);
}

TEST_F(WriteBatchTest, WhatIsFoundMeanwhileIsOneOfTheWrites) {
    std::vector<Write> writes;
    for (int id = 0; id < 4; ++id) writes.emplace_back([=, this] { return write(id, 10ms); });
    bool found = false;
    const auto look = [&, this]() -> BeforeWrite {
        if (begun.size() != 3 || std::exchange(found, true)) return {};
        return {.first = [this] { return write(100, 30ms); }};
    };
    asio::co_spawn(context, run(std::move(writes), 2, look), asio::detached);
    run_simulation(context, clock);
    EXPECT_THAT(begun, ElementsAre(0, 1, 2, 100, 3)) << "before the next, and none is left out";
    EXPECT_EQ(most, 2);
    EXPECT_THAT(ended, ElementsAre(0, 1, 2, 3, 100)) << "the last is waited for";
    EXPECT_TRUE(done);
    EXPECT_TRUE(all);
}

TEST_F(WriteBatchTest, StoppingTheGroupEndsAll) {
    std::vector<Write> writes;
    for (int id = 0; id < 5; ++id) writes.emplace_back([=, this] { return write(id, 1h); });
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
}  // namespace muster::operators::write_batch_test
