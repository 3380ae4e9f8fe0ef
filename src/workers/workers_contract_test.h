#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/test_loop.h"
#include "base/time/time_limit.h"
#include "workers/workers.h"

namespace muster::workers {

/// What one worker of a test does.
struct WorkerLife {
    enum class Then : std::uint8_t {
        kRuns,  ///< until it is told to stop
        kExits,
        kDies,  ///< of the signal
    };
    Then then = Then::kRuns;
    int exit_code = 0;
    int signal = 0;
    /// It keeps running until release(), and only then does what `then` says.
    bool held = false;
    /// It ignores SIGTERM.
    bool stubborn = false;
    /// As it counts them. It has made them before it does anything else that can be observed.
    std::uint64_t steps = 0;
};

/// What every implementation of Workers must do. A test program provides a world with
///
///     TestLoop& loop();
///     Clock& clock();
///     Workers& workers();
///     WorkerStart worker(int local_rank, int rank, WorkerLife life);
///     WorkerStart unstartable(int local_rank, int rank);
///     void release(int rank);         // lets a held worker continue
///     void settled(int rank);         // returns when it runs and has made its steps
///     int alive();                    // number of worker processes
///
/// and instantiates the suite for it.
template <class World>
class WorkersContract : public ::testing::Test {
  protected:
    using Then = WorkerLife::Then;

    ~WorkersContract() override { loop().await(workers().stop(Duration(0))); }

    TestLoop& loop() { return world_.loop(); }
    Workers& workers() { return world_.workers(); }

    static job_protocol::World world(std::uint64_t number, int size = 2) {
        return {.generation = {.epoch = 3, .number = number},
                .members = {{.slot = 1,
                             .incarnation = "a",
                             .address = "10.0.0.1",
                             .local_size = size,
                             .first_rank = 4}}};
    }
    /// Local rank 0 is rank 4.
    Result<void> start(std::uint64_t number, const std::vector<WorkerLife>& lives) {
        std::vector<launch::WorkerStart> starts;
        for (const WorkerLife& life : lives) {
            const int local_rank = static_cast<int>(starts.size());
            starts.push_back(world_.worker(local_rank, 4 + local_rank, life));
        }
        return loop().await(
            workers().start(world(number, static_cast<int>(lives.size())), std::move(starts)));
    }
    void must_start(std::uint64_t number, const std::vector<WorkerLife>& lives) {
        const Result<void> started = start(number, lives);
        ASSERT_TRUE(started) << started.error().message();
    }
    WorkerEnd next_end() { return loop().await(workers().next_end()); }
    void stop(Duration grace = std::chrono::seconds(5)) { loop().await(workers().stop(grace)); }

    World world_;
};

TYPED_TEST_SUITE_P(WorkersContract);

TYPED_TEST_P(WorkersContract, NothingRunsAtFirst) {
    EXPECT_EQ(this->workers().running(), std::nullopt);
    EXPECT_EQ(this->workers().steps(), std::nullopt);
    this->stop();
    EXPECT_EQ(this->workers().running(), std::nullopt);
}

TYPED_TEST_P(WorkersContract, ASetRunsFromItsStartToItsStop) {
    this->must_start(7, {{}, {}});
    EXPECT_EQ(this->workers().running(), this->world(7));
    EXPECT_EQ(this->world_.alive(), 2);
    this->stop();
    EXPECT_EQ(this->workers().running(), std::nullopt);
    EXPECT_EQ(this->world_.alive(), 0);
    this->must_start(8, {{}, {}});
    EXPECT_EQ(this->workers().running(), this->world(8));
}

TYPED_TEST_P(WorkersContract, AnEndIsTold) {
    this->must_start(7, {{}, {.then = TestFixture::Then::kExits, .exit_code = 3}});
    const WorkerEnd end = this->next_end();
    EXPECT_EQ(end.generation, (job_protocol::Generation{.epoch = 3, .number = 7}));
    EXPECT_EQ(end.local_rank, 1);
    EXPECT_EQ(end.rank, 5);
    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(end.signal, 0);
    EXPECT_FALSE(end.out_of_memory);
    EXPECT_EQ(end.error, "");
    // The other workers are unaffected.
    EXPECT_EQ(this->world_.alive(), 1);
    EXPECT_EQ(this->workers().running(), this->world(7));
}

TYPED_TEST_P(WorkersContract, AGoodEndIsOneToo) {
    this->must_start(7, {{.then = TestFixture::Then::kExits}});
    EXPECT_EQ(this->next_end().exit_code, 0);
    // Even if no worker is left, until it is stopped.
    EXPECT_NE(this->workers().running(), std::nullopt);
}

TYPED_TEST_P(WorkersContract, ASignalIsNamed) {
    this->must_start(7, {{.then = TestFixture::Then::kDies, .signal = SIGSEGV}});
    const WorkerEnd end = this->next_end();
    EXPECT_EQ(end.exit_code, std::nullopt);
    EXPECT_EQ(end.signal, SIGSEGV);
}

TYPED_TEST_P(WorkersContract, EachEndIsToldOnceAndInOrder) {
    this->must_start(7, {{.then = TestFixture::Then::kExits, .exit_code = 1, .held = true},
                         {.then = TestFixture::Then::kExits, .exit_code = 2, .held = true}});
    this->world_.release(5);
    EXPECT_EQ(this->next_end().rank, 5);
    this->world_.release(4);
    EXPECT_EQ(this->next_end().rank, 4);
    EXPECT_EQ(this->loop().await(within(this->world_.clock(), std::chrono::milliseconds(50),
                                        this->workers().next_end())),
              std::nullopt);
}

TYPED_TEST_P(WorkersContract, EndsOfAStoppedSetAreNotTold) {
    this->must_start(7, {{}, {.then = TestFixture::Then::kExits, .exit_code = 1, .held = true}});
    this->world_.release(5);
    this->stop();
    this->must_start(8, {{.then = TestFixture::Then::kExits, .exit_code = 9}});
    const WorkerEnd end = this->next_end();
    EXPECT_EQ(end.generation.number, 8U);
    EXPECT_EQ(end.exit_code, 9);
}

TYPED_TEST_P(WorkersContract, WhoWaitsForAnEndHearsOfTheNextSet) {
    TaskGroup tasks(this->loop().context.get_executor());
    std::optional<WorkerEnd> end;
    tasks.spawn("end", [](Workers& workers, std::optional<WorkerEnd>& told) -> Task<void> {
        told = co_await workers.next_end();
    }(this->workers(), end));
    this->must_start(7, {{}});
    this->stop();
    this->must_start(8, {{.then = TestFixture::Then::kExits, .exit_code = 4}});
    this->loop().run_until([&] { return end.has_value(); });
    EXPECT_EQ(end->generation.number, 8U);
    this->loop().await(tasks.join());
}

TYPED_TEST_P(WorkersContract, AStubbornWorkerEndsAfterTheGrace) {
    this->must_start(7, {{.stubborn = true}, {}});
    this->world_.settled(4);
    const Instant before = this->world_.clock().now();
    this->stop(std::chrono::milliseconds(200));
    EXPECT_GE(this->world_.clock().now() - before, std::chrono::milliseconds(200));
    EXPECT_EQ(this->world_.alive(), 0);
}

TYPED_TEST_P(WorkersContract, WithoutAGraceItIsKilledAtOnce) {
    this->must_start(7, {{.stubborn = true}});
    this->world_.settled(4);
    this->stop(Duration(0));
    EXPECT_EQ(this->world_.alive(), 0);
}

TYPED_TEST_P(WorkersContract, WhoCantBeStartedIsNamedAndNobodyRuns) {
    const Result<void> started = this->loop().await(this->workers().start(
        this->world(7), {this->world_.worker(0, 4, {}), this->world_.unstartable(1, 5)}));
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message(), ::testing::HasSubstr("worker 5"));
    EXPECT_EQ(this->workers().running(), std::nullopt);
    EXPECT_EQ(this->world_.alive(), 0);
    this->must_start(8, {{}});
}

TYPED_TEST_P(WorkersContract, StepsAreCounted) {
    this->must_start(7, {{}, {.steps = 12}, {.steps = 10}});
    this->world_.settled(5);
    this->world_.settled(6);
    EXPECT_EQ(this->workers().steps(), 12U);
    this->stop();
    EXPECT_EQ(this->workers().steps(), std::nullopt);
    this->must_start(8, {{.then = TestFixture::Then::kExits, .exit_code = 1, .steps = 5}});
    EXPECT_EQ(this->next_end().steps, 5U);
}

REGISTER_TYPED_TEST_SUITE_P(WorkersContract, NothingRunsAtFirst, ASetRunsFromItsStartToItsStop,
                            AnEndIsTold, AGoodEndIsOneToo, ASignalIsNamed,
                            EachEndIsToldOnceAndInOrder, EndsOfAStoppedSetAreNotTold,
                            WhoWaitsForAnEndHearsOfTheNextSet, AStubbornWorkerEndsAfterTheGrace,
                            WithoutAGraceItIsKilledAtOnce, WhoCantBeStartedIsNamedAndNobodyRuns,
                            StepsAreCounted);

}  // namespace muster::workers
