#include "kube/client/work_queue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/async/task_fault.h"
#include "base/rng.h"
#include "base/test_loop.h"
#include "base/test_seeds.h"

namespace muster::kube::work_queue_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WorkQueueTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    ~WorkQueueTest() override { stop(); }

    void stop() {
        const Instant before = clock.now();
        await(tasks.stop());
        EXPECT_EQ(clock.now(), before) << "stopping waits for no timer";
    }
    /// What a worker is handed that takes everything that is ready; each key is done at once.
    std::vector<std::string> drain() {
        std::vector<std::string> keys;
        auto take = [](WorkQueue& q, std::vector<std::string>& out) -> Task<void> {
            while (q.ready() > 0) {
                std::string key = co_await q.next();
                q.done(key);
                out.push_back(key);
            }
        };
        tasks.spawn("drain", take(queue, keys));
        settle();
        return keys;
    }
    /// One key, which stays with the worker.
    std::string take() {
        std::string key;
        auto take_one = [](WorkQueue& q, std::string& out) -> Task<void> {
            out = co_await q.next();
        };
        tasks.spawn("take", take_one(queue, key));
        settle();
        return key;
    }

    TaskGroup tasks{context.get_executor()};
    WorkQueue queue{clock, tasks};
};

TEST_F(WorkQueueTest, HandsKeysOutInOrderAndOnce) {
    for (const char* key : {"a", "b", "a", "c", "b"}) queue.add(key);
    EXPECT_EQ(queue.ready(), 3u);
    EXPECT_THAT(drain(), ElementsAre("a", "b", "c"));
    EXPECT_THAT(drain(), IsEmpty());
}

TEST_F(WorkQueueTest, AKeyAddedWhileWorkedOnComesAfterDone) {
    queue.add("a");
    EXPECT_EQ(take(), "a");
    queue.add("a");
    queue.add("a");
    EXPECT_EQ(queue.ready(), 0u);
    queue.done("a");
    EXPECT_THAT(drain(), ElementsAre("a"));
    EXPECT_THAT(drain(), IsEmpty());
}

TEST_F(WorkQueueTest, DoneAloneQueuesNothing) {
    queue.add("a");
    EXPECT_EQ(take(), "a");
    queue.done("a");
    EXPECT_EQ(queue.ready(), 0u);
}

TEST_F(WorkQueueTest, AWaitingWorkerIsWoken) {
    std::string key;
    auto worker = [](WorkQueue& q, std::string& out) -> Task<void> { out = co_await q.next(); };
    tasks.spawn("worker", worker(queue, key));
    settle();
    EXPECT_EQ(key, "");
    queue.add("a");
    settle();
    EXPECT_EQ(key, "a");
}

TEST_F(WorkQueueTest, OneKeyGoesToOneOfManyWorkers) {
    std::vector<std::string> got(3);
    auto worker = [](WorkQueue& q, std::string& out) -> Task<void> { out = co_await q.next(); };
    for (std::string& slot : got) tasks.spawn("worker", worker(queue, slot));
    settle();
    queue.add("a");
    settle();
    EXPECT_EQ(std::count(got.begin(), got.end(), "a"), 1);
    EXPECT_EQ(tasks.size(), 2u);
}

TEST_F(WorkQueueTest, ACancelledWaiterLosesNothing) {
    stop();
    queue.add("a");
    EXPECT_EQ(queue.ready(), 1u);
}

TEST_F(WorkQueueTest, DelayedKeysComeInTime) {
    queue.add_after("late", 3s);
    queue.add_after("early", 1s);
    queue.add_at("now", clock.now());
    EXPECT_EQ(queue.delayed(), 2u);
    EXPECT_THAT(drain(), ElementsAre("now"));
    advance(1s - 1ns);
    EXPECT_THAT(drain(), IsEmpty());
    advance(1ns);
    EXPECT_THAT(drain(), ElementsAre("early"));
    advance(2s);
    EXPECT_THAT(drain(), ElementsAre("late"));
    EXPECT_EQ(queue.delayed(), 0u);
    EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(WorkQueueTest, DelayedKeysComeAfterAFaultOfTheirTimer) {
    {
        const TaskFault fault("work queue timer");
        queue.add_after("a", 500ms);
        queue.add_after("b", 3s);
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(1s);
    EXPECT_THAT(drain(), ElementsAre("a"));
    advance(2s);
    EXPECT_THAT(drain(), ElementsAre("b"));
}

TEST_F(WorkQueueTest, TheEarliestTimeWins) {
    queue.add_after("a", 3s);
    queue.add_after("a", 1s);
    queue.add_after("a", 2s);
    EXPECT_EQ(queue.delayed(), 1u);
    advance(1s);
    EXPECT_THAT(drain(), ElementsAre("a"));
    advance(10s);
    EXPECT_THAT(drain(), IsEmpty());
}

// A deadline that is set while its key waits or is worked on must not be lost with that work.
TEST_F(WorkQueueTest, ADelaySurvivesTheWorkOfNow) {
    queue.add("a");
    queue.add_after("a", 1s);
    EXPECT_THAT(drain(), ElementsAre("a"));
    queue.add("b");
    EXPECT_EQ(take(), "b");
    queue.add_after("b", 2s);
    queue.done("b");
    advance(1s);
    EXPECT_THAT(drain(), ElementsAre("a"));
    advance(1s);
    EXPECT_THAT(drain(), ElementsAre("b"));
}

TEST_F(WorkQueueTest, ManyShortDelaysBesideALongOneLeaveNoSleepers) {
    queue.add_after("long", 1h);
    for (int i = 0; i < 100; ++i) {
        queue.add_after("short", 1s);
        advance(1s);
        EXPECT_THAT(drain(), ElementsAre("short"));
    }
    EXPECT_LE(tasks.size(), 1u);
}

TEST_F(WorkQueueTest, BackOffDoublesPerKeyUpToItsLimitAndForgetResets) {
    auto delay_of = [&](const std::string& key) {
        const Instant before = clock.now();
        queue.add_failed(key);
        while (queue.ready() == 0) {
            settle();
            if (queue.ready() == 0 && !clock.advance_to_next()) break;
        }
        EXPECT_THAT(drain(), ElementsAre(key));
        return clock.now() - before;
    };
    Duration expected = 5ms;
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(delay_of("a"), expected) << i;
        expected = std::min<Duration>(2 * expected, 60s);
    }
    EXPECT_EQ(delay_of("b"), Duration(5ms));
    queue.forget("a");
    EXPECT_EQ(delay_of("a"), Duration(5ms));
    EXPECT_EQ(delay_of("a"), Duration(10ms));
}

TEST_F(WorkQueueTest, WhatIsToBeFirstLeavesTheOthersATurn) {
    for (int i = 0; i < 3; ++i) queue.add(fmt::format("later-{}", i));
    for (int i = 0; i < 20; ++i) queue.add_first(fmt::format("first-{}", i));
    queue.add_first("later-2");
    EXPECT_EQ(queue.ready(), 23u);
    const std::vector<std::string> order = drain();
    ASSERT_EQ(order.size(), 23u);
    EXPECT_EQ(order[0], "first-0");
    EXPECT_EQ(order[7], "first-7");
    EXPECT_EQ(order[8], "later-0");
    EXPECT_EQ(order[17], "later-1");
    EXPECT_EQ(order[21], "first-19");
    EXPECT_EQ(order[22], "later-2");
}

TEST_F(WorkQueueTest, WhatFailedIsAddedAtOnceAndItsBackOffIsForgotten) {
    for (const char* key : {"a", "b"}) queue.add_failed(key);
    for (int i = 0; i < 12; ++i) {
        advance(1min);
        for (const std::string& key : drain()) queue.add_failed(key);
    }
    queue.add_failed("c");
    queue.forget("b");
    queue.retry_failed();
    EXPECT_THAT(drain(), testing::UnorderedElementsAre("a", "c"));
    queue.add_failed("a");
    advance(5ms);
    EXPECT_THAT(drain(), testing::Contains("a"));
}

TEST_F(WorkQueueTest, StopsWithTimersAndWaiters) {
    queue.add_after("a", 1h);
    std::string key;
    auto worker = [](WorkQueue& q, std::string& out) -> Task<void> { out = co_await q.next(); };
    tasks.spawn("worker", worker(queue, key));
    settle();
    EXPECT_EQ(tasks.size(), 2u);
    stop();
    EXPECT_EQ(tasks.size(), 0u);
    queue.add("late");  // whoever still has the queue may use it
    queue.add_after("later", 1s);
}

TEST_F(WorkQueueTest, DoneWithoutWorkIsABug) { EXPECT_DEATH(queue.done("a"), "no worker has"); }

// --- under a seeded simulation

/// Workers that take random times and fail at random, while keys are added at random. `dirty`
/// counts per key the adds since the last start of work on it.
struct Simulation : SimulatedLoop {
    explicit Simulation(std::uint64_t seed) : rng(seed) {}

    Rng rng;
    TaskGroup tasks{context.get_executor()};
    WorkQueue queue{clock, tasks, {.first = 5ms, .max = 1s}};

    std::map<std::string, int> dirty;
    std::map<std::string, int> workers_on;
    std::map<std::string, Instant> pending;  ///< the time that counts of the delayed adds
    std::set<std::string> owed;              ///< a pending time passed, no work started since
    int handled = 0;
    int delayed_adds = 0;
    std::string trace;

    static constexpr int kKeys = 7;

    std::string key() { return "k" + std::to_string(rng.below(kKeys)); }

    static Task<void> worker(Simulation& sim) {
        for (;;) {
            std::string key = co_await sim.queue.next();
            EXPECT_EQ(++sim.workers_on[key], 1) << key;
            sim.dirty[key] = 0;
            sim.owed.erase(key);
            if (auto it = sim.pending.find(key);
                it != sim.pending.end() && it->second <= sim.clock.now())
                sim.pending.erase(it);
            sim.trace += key;
            co_await sim.clock.sleep_for(std::chrono::milliseconds(sim.rng.below(20)));
            --sim.workers_on[key];
            ++sim.handled;
            // Only where no later time is set, which the retry would replace.
            if (key > "k2" && sim.rng.chance(0.2)) {
                sim.queue.add_failed(key);
            } else {
                sim.queue.forget(key);
            }
            sim.queue.done(key);
        }
    }
    static Task<void> adder(Simulation& sim) {
        for (int i = 0; i < 500; ++i) {
            std::string key = sim.key();
            if (key <= "k2" && sim.rng.chance(0.5)) {
                // No two times are equal: the order of two things at the same instant is undefined.
                const Instant when = sim.clock.now() +
                                     std::chrono::milliseconds(1 + sim.rng.below(100)) +
                                     std::chrono::nanoseconds(++sim.delayed_adds);
                sim.queue.add_at(key, when);
                Instant& earliest = sim.pending.try_emplace(key, when).first->second;
                if (earliest <= sim.clock.now()) {
                    sim.owed.insert(key);
                    earliest = when;
                }
                earliest = std::min(earliest, when);
            } else {
                sim.queue.add(key);
                ++sim.dirty[key];
            }
            co_await sim.clock.sleep_for(std::chrono::milliseconds(sim.rng.below(6)));
        }
    }
    void run() {
        for (int i = 0; i < 3; ++i) tasks.spawn("worker", worker(*this));
        for (int i = 0; i < 2; ++i) tasks.spawn("adder", adder(*this));
        run_simulation(context, clock);
        for (const auto& [name, count] : dirty) EXPECT_EQ(count, 0) << name << " was lost";
        for (const auto& [name, count] : workers_on) EXPECT_EQ(count, 0) << name;
        EXPECT_THAT(pending, IsEmpty());
        EXPECT_THAT(owed, IsEmpty());
        EXPECT_EQ(queue.ready(), 0u);
        EXPECT_EQ(queue.delayed(), 0u);
        EXPECT_EQ(tasks.size(), 3u) << "only the idle workers are left";
        await(tasks.stop());
    }
};

TEST(WorkQueueSimulation, NeverTwoWorkersOnOneKeyAndNothingLost) {
    for (const std::uint64_t seed : seeds_of_this_run(100, 5)) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Simulation simulation(seed);
        simulation.run();
        EXPECT_GT(simulation.handled, 100);
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(WorkQueueSimulation, EqualSeedsGiveEqualRuns) {
    Simulation one(42), two(42), other(43);
    one.run();
    two.run();
    other.run();
    EXPECT_EQ(one.trace, two.trace);
    EXPECT_NE(one.trace, other.trace);
}

}  // namespace
}  // namespace muster::kube::work_queue_test
