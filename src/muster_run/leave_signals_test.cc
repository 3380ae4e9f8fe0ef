#include "muster_run/leave_signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/async/task_group.h"
#include "base/test_loop.h"
#include "base/time/restarting_task.h"

namespace muster::run::leave_signals_test {
namespace {

class LeaveSignalsTest : public ::testing::Test {
  protected:
    ~LeaveSignalsTest() override { loop.await(tasks.stop()); }

    void watch(std::vector<int> which) {
        tasks.spawn(
            "signals",
            signals.watch(
                std::move(which),
                {.leave =
                     [this](int signal, const std::string& why) {
                         heard.push_back(fmt::format("{}: {}", signal, why));
                     },
                 .tell = [this](const std::string& name) { heard.push_back("tell " + name); },
                 .hurry = [this] { heard.push_back("hurry"); }}));
        loop.settle();
    }
    /// And waits for the answer.
    void send(int signal) {
        const std::size_t before = heard.size();
        ::raise(signal);
        loop.run_until([&] { return heard.size() > before; });
    }

    RealLoop loop;
    TaskGroup tasks{loop.context.get_executor()};
    LeaveSignals signals{loop.context.get_executor()};
    std::vector<std::string> heard;
};

TEST_F(LeaveSignalsTest, TheThirdOfOneKindHurries) {
    watch({SIGUSR1, SIGUSR2});
    for (const int signal : {SIGUSR1, SIGUSR2, SIGUSR1, SIGUSR2, SIGUSR1}) send(signal);
    EXPECT_THAT(heard,
                ::testing::ElementsAre(fmt::format("{}: SIGUSR1 was sent to its agent", SIGUSR1),
                                       "tell SIGUSR2", "tell SIGUSR1", "tell SIGUSR2", "hurry"));
    EXPECT_EQ(signals.first(), SIGUSR1);
}

TEST_F(LeaveSignalsTest, OneThatCouldNotBeAnsweredIsAnsweredAgain) {
    int asked = 0;
    spawn_restarting(tasks, loop.clock, "signals", [&] {
        return signals.watch({SIGUSR1}, {.leave =
                                             [&](int, const std::string& why) {
                                                 if (++asked == 1) throw std::runtime_error("no");
                                                 heard.push_back(why);
                                             },
                                         .tell = {},
                                         .hurry = {}});
    });
    loop.settle();
    send(SIGUSR1);
    EXPECT_THAT(heard, ::testing::ElementsAre("SIGUSR1 was sent to its agent"));
    EXPECT_EQ(signals.first(), SIGUSR1);
}

TEST_F(LeaveSignalsTest, WhatIsIgnoredStaysIgnored) {
    std::signal(SIGUSR1, SIG_IGN);
    watch({SIGUSR1, SIGUSR2});
    ::raise(SIGUSR1);
    send(SIGUSR2);
    EXPECT_EQ(signals.first(), SIGUSR2);
    struct sigaction now{};
    ::sigaction(SIGUSR1, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_IGN);
    std::signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace muster::run::leave_signals_test
