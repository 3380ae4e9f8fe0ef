#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/internal/lifecycle/pod_machine_fixture.h"

namespace muster::runtime {
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
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
    life.started();
    EXPECT_EQ(life.container().restarts, 2);
    EXPECT_EQ(life.container().last->exit_code, 1);
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
    EXPECT_EQ(life.sleeps(), 30s);
    life.ready();
    life.started();
    EXPECT_THAT(life.resume(31s), ElementsAre("event DeadlineExceeded"));
    EXPECT_EQ(life.phase(), "Failed");
}

}  // namespace
}  // namespace muster::runtime
