#include "control_plane/daemon/supervisor.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

namespace muster::control_plane::supervisor_test {
namespace {

using namespace std::chrono_literals;
using End = SupervisorState::End;
using Restart = SupervisorState::Restart;

TEST(SupervisorState, WhatFollowsTheEndOfADaemon) {
    struct Step {
        DaemonEnd end;
        bool stopping;
        std::variant<Restart, End> next;
    };
    struct Case {
        std::string what;
        std::vector<Step> steps;
    };
    const DaemonEnd crash{.signal = SIGSEGV, .ran = 1s};
    const DaemonEnd steady_crash{.signal = SIGSEGV, .ran = 10min};
    const DaemonEnd refusal{.exit_status = 1};
    const DaemonEnd end{.exit_status = 0, .ran = 1h};
    const Case cases[] = {
        {"it was stopped by somebody else", {{end, false, End{0}}}},
        {"the first can't start", {{refusal, false, End{1}}}},
        {"a later one can't start",
         {{crash, false, Restart{1s}}, {refusal, false, Restart{2s}}, {end, false, End{0}}}},
        {"told to end", {{end, true, End{0}}}},
        {"told to end, it crashes", {{crash, true, End{128 + SIGSEGV}}}},
        {"told to end after crashes", {{crash, false, Restart{1s}}, {end, true, End{0}}}},
        {"it crashes again and again",
         {{crash, false, Restart{1s}},
          {crash, false, Restart{2s}},
          {crash, false, Restart{4s}},
          {crash, false, Restart{8s}},
          {crash, false, Restart{16s}},
          {crash, false, Restart{32s}},
          {crash, false, Restart{60s}},
          {crash, false, Restart{60s}}}},
        {"it crashes now and then",
         {{crash, false, Restart{1s}},
          {crash, false, Restart{2s}},
          {steady_crash, false, Restart{1s}},
          {crash, false, Restart{2s}}}},
    };
    for (const Case& one : cases) {
        SupervisorState state;
        int number = 0;
        for (const Step& step : one.steps)
            EXPECT_EQ(state.ended(step.end, step.stopping), step.next)
                << one.what << ", end " << ++number;
    }
}

}  // namespace
}  // namespace muster::control_plane::supervisor_test
