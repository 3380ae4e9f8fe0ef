#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/internal/lifecycle/pod_machine_fixture.h"

namespace muster::runtime::pod_machine_resume_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PodMachineResume, WhatRanWasKilledAndItsPolicyDecides) {
    struct Case {
        const char* policy;
        const char* phase;
        bool again;
    };
    for (const Case& c : {Case{"Never", "Failed", false}, Case{"OnFailure", "Running", true},
                          Case{"Always", "Running", true}}) {
        SCOPED_TRACE(c.policy);
        Life life(c.policy);
        life.run();
        const Life::Lines actions = life.resume(1min);
        if (!c.again) {
            EXPECT_THAT(actions, IsEmpty());
            EXPECT_EQ(life.phase(), c.phase);
            EXPECT_TRUE(life.machine->finished());
        } else {
            EXPECT_THAT(actions, ElementsAre("sandbox"));
            EXPECT_EQ(life.phase(), c.phase);
            EXPECT_THAT(life.ready(), ElementsAre("start 0"));
            life.started();
            EXPECT_EQ(life.container().restarts, 1);
        }
        const Termination& end = c.again ? *life.container().last : *life.container().terminated;
        EXPECT_EQ(end.exit_code, 137);
        EXPECT_EQ(end.reason, "ContainerStatusUnknown");
        EXPECT_EQ(end.container_id, "id");
    }
}

TEST(PodMachineResume, WhatHadEndedStaysEnded) {
    Life life("OnFailure", 0, 2);
    life.start();
    life.ready();
    life.started(0);
    life.started(1);
    life.exited(0, 0);
    EXPECT_THAT(life.resume(1s), ElementsAre("sandbox"));
    EXPECT_EQ(life.container(0).terminated->exit_code, 0);
    EXPECT_EQ(life.container(0).terminated->reason, "Completed");
    EXPECT_THAT(life.ready(), ElementsAre("start 1"));
}

TEST(PodMachineResume, RestartsGoOnToBeCounted) {
    Life life("OnFailure");
    life.run();
    life.exited(1);
    life.started();
    EXPECT_EQ(life.container().restarts, 1);
    life.resume(1s);
    life.ready();
    life.started();
    EXPECT_EQ(life.container().restarts, 2);
}

TEST(PodMachineResume, OneThatWaitsToBeRestartedIsRestarted) {
    Life life("OnFailure");
    life.run();
    life.exited(1);
    life.started();
    EXPECT_THAT(life.exited(1), ElementsAre("event BackOff"));
    EXPECT_THAT(life.resume(1s), ElementsAre("sandbox"));
    EXPECT_THAT(life.ready(), IsEmpty());
    EXPECT_EQ(life.container().waiting_reason, "CrashLoopBackOff");
    EXPECT_EQ(life.sleeps(), Duration(9s));
    EXPECT_THAT(life.tick(9s), ElementsAre("start 0"));
    life.started();
    EXPECT_EQ(life.container().restarts, 2);
    EXPECT_EQ(life.container().last->exit_code, 1);
}

struct BackoffRow {
    std::string name;
    bool took_over;
    int before;  ///< restarts
    bool waits;  ///< when the process ends, or else runs
    std::chrono::seconds next;
};
class BackoffAcrossProcesses : public ::testing::TestWithParam<BackoffRow> {};

TEST_P(BackoffAcrossProcesses, Continues) {
    const BackoffRow& row = GetParam();
    const std::vector<std::chrono::seconds> waits{0s, 10s, 20s, 40s, 80s, 160s, 300s, 300s};
    Life life("OnFailure");
    life.run();
    for (int restart = 0; restart < row.before; ++restart) {
        life.exited(1);
        life.tick(waits[static_cast<std::size_t>(restart)]);
        life.started();
    }
    if (row.waits) life.exited(1);
    std::vector<RecoveredContainer> found(1);
    if (!row.waits && row.took_over)
        found[0] = {.state = RecoveredContainer::State::kRunning,
                    .launch = static_cast<std::uint32_t>(row.before + 1),
                    .container_id = "id",
                    .end = {}};
    if (row.took_over) {
        life.take_over(2s, found);
    } else {
        life.resume(2s);
        life.ready();
    }
    if (!row.waits && row.took_over) life.exited(1);
    EXPECT_EQ(life.sleeps(), Duration(row.waits ? row.next - 2s : row.next));
    EXPECT_EQ(life.container().restarts, row.before);
    life.tick(row.next);
    life.started();
    EXPECT_EQ(life.container().restarts, row.before + 1);
    EXPECT_THAT(life.exited(1), ElementsAre("event BackOff"));
    EXPECT_EQ(life.sleeps(), std::min<Duration>(row.next * 2, 300s));
}

INSTANTIATE_TEST_SUITE_P(Each, BackoffAcrossProcesses,
                         ::testing::Values(BackoffRow{"WaitsAndIsGone", false, 1, true, 10s},
                                           BackoffRow{"WaitsLongAndIsGone", false, 5, true, 160s},
                                           BackoffRow{"RunsAndIsGone", false, 3, false, 40s},
                                           BackoffRow{"RunsLongAndIsGone", false, 8, false, 300s},
                                           BackoffRow{"WaitsInAPodThatStays", true, 4, true, 80s},
                                           BackoffRow{"RunsInAPodThatStays", true, 4, false, 80s}),
                         [](const auto& info) { return info.param.name; });

TEST(PodMachineResume, OneThatRanLongIsForgiven) {
    Life life("OnFailure");
    life.run();
    for (const auto wait : {0s, 10s, 20s}) {
        life.exited(1);
        life.tick(wait);
        life.started();
    }
    life.tick(11min);
    life.resume(1s);
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
}

TEST(PodMachineResume, InitContainersPrepareAgain) {
    Life life("OnFailure", 1, 1);
    life.start();
    life.ready();
    life.started(0);
    life.exited(0, 0);
    life.started(1);
    EXPECT_THAT(life.resume(1s), ElementsAre("sandbox"));
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
    life.started(0);
    EXPECT_THAT(life.exited(0, 0), ElementsAre("start 1"));
}

TEST(PodMachineResume, AFailedInitContainerStaysTheEnd) {
    Life life("Never", 1, 1);
    life.start();
    life.ready();
    life.started(0);
    life.exited(3, 0);
    EXPECT_EQ(life.phase(), "Failed");
    EXPECT_THAT(life.resume(1s), IsEmpty());
    EXPECT_EQ(life.phase(), "Failed");
    EXPECT_EQ(life.container(0).terminated->exit_code, 3);
}

TEST(PodMachineResume, APodThatHadNotStartedStarts) {
    Life life("Never");
    life.start();
    EXPECT_THAT(life.resume(1s), ElementsAre("sandbox"));
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
    life.started();
    EXPECT_EQ(life.container().restarts, 0);
}

TEST(PodMachineResume, TheDeadlineRanOnMeanwhile) {
    kube::Pod pod = Life::pod_of("Always");
    pod.spec.active_deadline_seconds = 60;
    Life life(pod);
    life.run();
    life.tick(20s);
    life.resume(10s);
    EXPECT_EQ(life.active_for(), 31s) << "the status does not say when in a second it began";
    life.ready();
    life.started();
    EXPECT_THAT(life.resume(31s), ElementsAre("event DeadlineExceeded"));
    EXPECT_EQ(life.phase(), "Failed");
}

TEST(PodMachineResume, TheDeadlineIsNeverEarly) {
    kube::Pod pod = Life::pod_of("Always");
    pod.spec.active_deadline_seconds = 60;
    Life life(pod);
    life.passed = 900ms;
    life.machine.emplace(pod, *read_lifecycles(pod.spec), "10.0.0.1", "127.0.0.1", life.now());
    life.run();
    EXPECT_EQ(life.active_for(), 60s);
    for (int restart = 0; restart < 3; ++restart) {
        life.resume(10s);
        EXPECT_EQ(life.active_for(), 60s + 100ms - (restart + 1) * 10s);
    }
    EXPECT_THAT(life.print(life.machine->deadline_changed(30, life.now())), IsEmpty());
    EXPECT_EQ(life.active_for(), 100ms);
}

}  // namespace
}  // namespace muster::runtime::pod_machine_resume_test
