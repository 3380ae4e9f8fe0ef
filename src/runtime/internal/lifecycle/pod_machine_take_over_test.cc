#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/internal/lifecycle/pod_machine_fixture.h"

namespace muster::runtime::pod_machine_take_over_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = RecoveredContainer::State;

RecoveredContainer none() { return {}; }
RecoveredContainer starting(std::uint32_t launch) {
    return {.state = State::kStarting, .launch = launch, .container_id = {}, .end = {}};
}
RecoveredContainer running(std::uint32_t launch) {
    return {.state = State::kRunning,
            .launch = launch,
            .container_id = fmt::format("id-{}", launch),
            .end = {}};
}
RecoveredContainer ended(std::uint32_t launch, int exit_code) {
    return {.state = State::kEnded,
            .launch = launch,
            .container_id = fmt::format("id-{}", launch),
            .end = {.exit_code = exit_code, .reason = {}, .message = "its last words"}};
}
RecoveredContainer failed(std::uint32_t launch) {
    return {.state = State::kFailed,
            .launch = launch,
            .container_id = fmt::format("id-{}", launch),
            .end = {.exit_code = 0, .reason = {}, .message = "no such program"}};
}

/// What the last status says.
void was_running(Life& life) {
    life.start();
    life.ready();
    life.started(0, "id-1");
}
void was_waiting(Life& life) {
    life.start();
    life.ready();
}
void was_ended(Life& life) {
    was_running(life);
    life.exited(1);
}
void was_backing_off(Life& life) {
    was_running(life);
    life.exited(1);  // its first restart is at once
    life.started(0, "id-2");
    life.exited(1);
}

struct Case {
    const char* name;
    const char* policy;
    void (*before)(Life&);
    RecoveredContainer found;
    Life::Lines actions;
    ContainerRecord::State state;
    int restarts;
    int last_exit_code;  ///< of the newest end, -1: none
};

TEST(PodMachineTakeOver, WhatHappenedSinceTheLastStatusHappensNow) {
    using enum ContainerRecord::State;
    const Case cases[] = {
        {"runs on", "Always", was_running, running(1), {}, kRunning, 0, -1},
        {"ended", "Never", was_running, ended(1, 3), {"kill"}, kTerminated, 0, 3},
        {"ended well", "OnFailure", was_running, ended(1, 0), {"kill"}, kTerminated, 0, 0},
        {"ended, starts again", "Always", was_running, ended(1, 3), {"start 0"}, kTerminated, 0, 3},
        {"gone with another sandbox",
         "Always",
         was_running,
         none(),
         {"start 0"},
         kTerminated,
         0,
         137},
        {"restarted unseen", "Always", was_running, running(2), {}, kRunning, 1, -1},
        {"restarted and ended unseen",
         "Never",
         was_ended,
         ended(2, 4),
         {"kill"},
         kTerminated,
         1,
         4},
        {"started unseen", "Always", was_waiting, running(1), {}, kRunning, 0, -1},
        {"started and ended unseen",
         "Never",
         was_waiting,
         ended(1, 3),
         {"kill"},
         kTerminated,
         0,
         3},
        {"is being started", "Always", was_waiting, starting(1), {}, kWaiting, 0, -1},
        {"is being started again", "Always", was_ended, starting(2), {}, kWaiting, 0, 1},
        {"was never asked for", "Always", was_waiting, none(), {"start 0"}, kWaiting, 0, -1},
        {"could not start",
         "Never",
         was_waiting,
         failed(1),
         {"event Failed", "kill"},
         kTerminated,
         0,
         128},
        {"could not start again",
         "Always",
         was_ended,
         failed(2),
         {"event Failed", "event BackOff"},
         kWaiting,
         1,
         128},
        {"its end is told", "Never", was_ended, ended(1, 1), {"kill"}, kTerminated, 0, 1},
        {"its end is told, and it waits",
         "Always",
         was_backing_off,
         ended(2, 1),
         {"start 0"},
         kWaiting,
         1,
         1},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        Life life(c.policy);
        c.before(life);
        EXPECT_EQ(life.take_over(1min, {c.found}), c.actions);
        const ContainerRecord& record = life.container();
        EXPECT_EQ(record.state, c.state);
        EXPECT_EQ(record.restarts, c.restarts);
        const std::optional<Termination>& end = record.terminated ? record.terminated : record.last;
        EXPECT_EQ(end ? end->exit_code : -1, c.last_exit_code);
    }
}

TEST(PodMachineTakeOver, AStartUnderWayIsCountedOnceWhenItIsTold) {
    Life life("Always");
    was_ended(life);
    life.take_over(1min, {starting(2)});
    EXPECT_THAT(life.started(0, "id-2"), ElementsAre("event Started"));
    EXPECT_EQ(life.container().restarts, 1);
    EXPECT_EQ(life.container().last->exit_code, 1);
}

TEST(PodMachineTakeOver, WhatRunsOnKeepsItsBeginningAndTheDeadlineItsTime) {
    kube::Pod pod = Life::pod_of("Never");
    pod.spec.active_deadline_seconds = 100;
    Life life(pod);
    was_running(life);
    const WallTime begun = life.container().started_at;
    EXPECT_THAT(life.take_over(40s, {running(1)}), IsEmpty());
    EXPECT_EQ(life.container().started_at, begun);
    EXPECT_EQ(life.machine->facts().start_time, begun);
    EXPECT_EQ(life.active_for(), 61s);
}

TEST(PodMachineTakeOver, ProbesBeginAnewAndNoPostStartHookRunsTwice) {
    kube::Pod pod = Life::pod_of("Always");
    pod.spec.containers[0].rest["readinessProbe"] = {{"tcpSocket", {{"port", 80}}}};
    pod.spec.containers[0].rest["lifecycle"] = {{"postStart", {{"exec", {{"command", {"true"}}}}}}};
    Life life(pod);
    life.start();
    life.ready();
    EXPECT_THAT(life.started(0, "id-1"), ElementsAre("event Started", "hook 0 PostStart"));
    EXPECT_THAT(life.take_over(1s, {running(1)}), ElementsAre("probe 0 Readiness"));
    EXPECT_EQ(life.container().state, ContainerRecord::State::kRunning);
    EXPECT_FALSE(life.container().ready);
    life.probed(ProbeKind::kReadiness, true);
    EXPECT_TRUE(life.container().ready);
}

TEST(PodMachineTakeOver, InitContainersThatAreDoneAreNotRunAgain) {
    Life life("Never", 1, 1);
    life.start();
    life.ready();
    life.started(0, "id-1");
    life.exited(0, 0);
    EXPECT_THAT(life.take_over(1s, {ended(1, 0), none()}), ElementsAre("start 1"));
    EXPECT_EQ(life.container(0).terminated->exit_code, 0);
}

TEST(PodMachineTakeOver, APodThatIsDeletedMeanwhileIsEnded) {
    Life life("Always");
    was_running(life);
    life.take_over(1s, {running(1)});
    EXPECT_THAT(life.remove(30s), ElementsAre("event Killing", "signal 0 15"));
    EXPECT_THAT(life.exited(0), ElementsAre("kill"));
    EXPECT_THAT(life.gone(), ElementsAre("delete"));
}

}  // namespace
}  // namespace muster::runtime::pod_machine_take_over_test
