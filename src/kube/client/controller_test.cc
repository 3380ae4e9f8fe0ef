#include "kube/client/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <vector>

#include "base/async/task_fault.h"
#include "base/time/sim_clock.h"

namespace muster::kube::controller_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

// Of any resource: a key is a text, and what is done about it is a function.
class ControllerTest : public ::testing::Test {
  protected:
    ~ControllerTest() override {
        asio::co_spawn(context, tasks.stop(), [](std::exception_ptr) {});
        run_for(1s);
    }
    void run_for(Duration duration) { run_simulation(context, clock, clock.now() + duration); }

    Task<bool> reconcile(std::string key) {
        begun.push_back(key);
        most_at_once = std::max(most_at_once, ++at_once[key]);
        co_await clock.sleep_for(takes);
        --at_once[key];
        if (failures[key] == 0) co_return true;
        --failures[key];
        if (key == "throws") throw std::runtime_error("a fault");
        co_return false;
    }

    asio::io_context context;
    SimClock clock;
    TaskGroup tasks{context.get_executor()};
    Duration takes = 1s;
    std::map<std::string, int> failures;  ///< that are still to come
    std::map<std::string, int> at_once;
    int most_at_once = 0;
    bool done_throws = false;  ///< once
    std::vector<std::string> begun;
    std::vector<std::string> ended;
    Controller controller{clock, tasks,
                          [this](std::string key) { return reconcile(std::move(key)); },
                          [this](const std::string& key, Duration took, bool complete) {
                              EXPECT_EQ(took, takes);
                              if (std::exchange(done_throws, false))
                                  throw std::runtime_error("a listener's fault");
                              ended.push_back(key + (complete ? "" : " failed"));
                          }};
};

TEST_F(ControllerTest, AKeyWhoseReconciliationThrowsIsTriedAgainAndTheOthersAreReconciled) {
    failures["throws"] = 2;
    controller.start(1);
    controller.add("throws");
    controller.add("other");
    run_for(60s);
    EXPECT_THAT(begun, UnorderedElementsAre("throws", "throws", "throws", "other"));
}

TEST_F(ControllerTest, AKeyIsReconciledAgainWhoeverThrewAtItsEnd) {
    done_throws = true;
    controller.start(1);
    controller.add("a");
    run_for(10s);
    EXPECT_THAT(begun, ElementsAre("a"));
    controller.add("a");
    run_for(10s);
    EXPECT_THAT(begun, ElementsAre("a", "a"));
}

TEST_F(ControllerTest, AWorkerWorksOnAfterAFault) {
    {
        const TaskFault fault("worker of a controller");
        controller.start(1);
        controller.add("a");
        run_for(0s);
        EXPECT_EQ(fault.hits(), 1u);
    }
    run_for(10s);
    EXPECT_THAT(ended, ElementsAre("a"));
}

TEST_F(ControllerTest, NothingIsReconciledBeforeItStarts) {
    controller.add("a");
    run_for(1h);
    EXPECT_THAT(begun, IsEmpty());
    EXPECT_EQ(controller.ready(), 1u);
    controller.start(1);
    run_for(10s);
    EXPECT_THAT(ended, ElementsAre("a"));
    EXPECT_EQ(controller.ready(), 0u);
}

TEST_F(ControllerTest, AKeyIsReconciledByOneWorkerAtATime) {
    controller.start(2);
    controller.add("a");
    run_for(500ms);
    controller.add("a");
    controller.add("a");
    controller.add("b");
    run_for(10s);
    EXPECT_THAT(begun, ElementsAre("a", "b", "a")) << "what came meanwhile is one further turn";
    EXPECT_EQ(most_at_once, 1);
}

TEST_F(ControllerTest, WhatFailsComesBackUntilItDoesNot) {
    failures["a"] = 3;
    takes = 0s;
    controller.start(1);
    controller.add("a");
    run_for(10s);
    EXPECT_THAT(ended, ElementsAre("a failed", "a failed", "a failed", "a"));
}

TEST_F(ControllerTest, WhatFailedIsTriedAgainAtOnceWhenItIsToldTo) {
    failures["a"] = 1000;
    takes = 0s;
    controller.start(1);
    controller.add("a");
    run_for(10min);
    const std::size_t tried = ended.size();
    failures["a"] = 0;
    controller.retry_failed();
    run_for(0s);
    ASSERT_EQ(ended.size(), tried + 1);
    EXPECT_EQ(ended.back(), "a");
}

TEST_F(ControllerTest, NewKeysGoFirst) {
    controller.add("old");
    controller.add_first("new");
    controller.start(1);
    run_for(10s);
    EXPECT_THAT(begun, ElementsAre("new", "old"));
}

TEST_F(ControllerTest, AKeyComesBackAtItsTime) {
    controller.start(1);
    controller.requeue_at("soon", clock.now() + 10s);
    controller.set_deadline("deadline", clock.wall_now() + 20s);
    controller.set_deadline("cleared", clock.wall_now() + 20s);
    controller.set_deadline("cleared", std::nullopt);
    run_for(9s);
    EXPECT_THAT(begun, IsEmpty());
    run_for(2s);
    EXPECT_THAT(begun, ElementsAre("soon"));
    run_for(1h);
    EXPECT_THAT(begun, ElementsAre("soon", "deadline"));
}

TEST_F(ControllerTest, TwoOfThemShareALoop) {
    std::vector<std::string> others;
    TaskGroup its_tasks{context.get_executor()};
    Controller other(clock, its_tasks, [&](std::string key) -> Task<bool> {
        others.push_back(std::move(key));
        co_return true;
    });
    other.start(1);
    controller.start(1);
    controller.add("a");
    other.add("a");
    other.add("b");
    run_for(10s);
    EXPECT_THAT(ended, ElementsAre("a"));
    EXPECT_THAT(others, UnorderedElementsAre("a", "b"));
    asio::co_spawn(context, its_tasks.stop(), [](std::exception_ptr) {});
    run_for(1s);
}

}  // namespace
}  // namespace muster::kube::controller_test
