#include "runtime/internal/lifecycle/pod_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "runtime/internal/lifecycle/pod_machine_fixture.h"

namespace muster::runtime::pod_machine_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PodMachine, FromNothingToSucceeded) {
    Life life("Never");
    EXPECT_THAT(life.start(), ElementsAre("sandbox"));
    EXPECT_EQ(life.phase(), "Pending");
    EXPECT_EQ(life.container().waiting_reason, "ContainerCreating");
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
    EXPECT_THAT(life.started(), ElementsAre("event Started"));
    EXPECT_EQ(life.phase(), "Running");
    EXPECT_EQ(life.sleeps(), std::nullopt) << "an idle pod has no timer";
    EXPECT_THAT(life.exited(0), ElementsAre("kill"));
    EXPECT_EQ(life.phase(), "Succeeded");
    EXPECT_THAT(life.gone(), IsEmpty());
    EXPECT_TRUE(life.machine->finished());
    EXPECT_THAT(life.remove(30s), ElementsAre("delete"));
    EXPECT_EQ(life.phase(), "Succeeded");
}

TEST(PodMachine, RestartPolicies) {
    struct Case {
        const char* policy;
        int code;
        const char* phase;
        bool again;
    };
    const Case cases[] = {{"Never", 0, "Succeeded", false},     {"Never", 1, "Failed", false},
                          {"OnFailure", 0, "Succeeded", false}, {"OnFailure", 1, "Running", true},
                          {"Always", 0, "Running", true},       {"Always", 1, "Running", true}};
    for (const Case& c : cases) {
        SCOPED_TRACE(fmt::format("{} {}", c.policy, c.code));
        Life life(c.policy);
        life.run();
        EXPECT_THAT(life.exited(c.code), ElementsAre(c.again ? "start 0" : "kill"));
        EXPECT_EQ(life.phase(), c.phase);
    }
}

TEST(PodMachine, TheFirstRestartIsImmediateThenTheWaitDoubles) {
    Life life("OnFailure");
    life.run();
    EXPECT_THAT(life.exited(1), ElementsAre("start 0"));
    for (const auto wait : {10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
        life.started();
        EXPECT_THAT(life.exited(1), ElementsAre("event BackOff"));
        EXPECT_EQ(life.container().waiting_reason, "CrashLoopBackOff");
        EXPECT_EQ(
            life.container().waiting_message,
            fmt::format("back-off {}s restarting failed container=c0 pod=p_ns(u)", wait.count()));
        EXPECT_EQ(life.container().last->exit_code, 1);
        EXPECT_EQ(life.phase(), "Running");
        EXPECT_EQ(life.sleeps(), Duration(wait));
        EXPECT_THAT(life.tick(wait - 1ns), IsEmpty());
        EXPECT_THAT(life.tick(1ns), ElementsAre("start 0"));
    }
    life.started();
    EXPECT_EQ(life.container().restarts, 8);
    life.tick(11min);
    EXPECT_THAT(life.exited(1), ElementsAre("start 0")) << "it ran long enough to be forgiven";
}

TEST(PodMachine, InitContainersRunInOrder) {
    Life life("Never", 2, 1);
    life.start();
    EXPECT_EQ(life.container(2).waiting_reason, "PodInitializing");
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
    life.started(0);
    EXPECT_EQ(life.phase(), "Pending");
    EXPECT_THAT(life.exited(0, 0), ElementsAre("start 1"));
    life.started(1);
    EXPECT_THAT(life.exited(0, 1), ElementsAre("start 2"));
    life.started(2);
    EXPECT_EQ(life.phase(), "Running");
}

TEST(PodMachine, AFailedInitContainerFailsThePodUnlessItMayRestart) {
    Life never("Never", 1, 1);
    never.start();
    never.ready();
    never.started(0);
    EXPECT_THAT(never.exited(3, 0), ElementsAre("kill"));
    EXPECT_EQ(never.phase(), "Failed");

    Life always("Always", 1, 1);
    always.start();
    always.ready();
    always.started(0);
    EXPECT_THAT(always.exited(3, 0), ElementsAre("start 0"));
    EXPECT_EQ(always.phase(), "Pending");
}

TEST(PodMachine, DeletionTermsWaitsAndKills) {
    Life life("Always", 0, 2);
    life.start();
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
    EXPECT_THAT(life.started(0), ElementsAre("event Started", "start 1")) << "one after the other";
    life.started(1);
    EXPECT_THAT(life.remove(30s),
                ElementsAre("event Killing", "signal 0 15", "event Killing", "signal 1 15"));
    EXPECT_THAT(life.exited(143, 0), IsEmpty()) << "nothing restarts, the other has its grace";
    EXPECT_EQ(life.sleeps(), Duration(30s));
    EXPECT_THAT(life.tick(30s), ElementsAre("signal 1 9"));
    EXPECT_THAT(life.exited(137, 1), ElementsAre("kill"));
    EXPECT_THAT(life.gone(), ElementsAre("delete"));
    EXPECT_EQ(life.phase(), "Failed");
}

TEST(PodMachine, AShorterGraceWins) {
    Life life("Never");
    life.run();
    life.remove(30s);
    EXPECT_THAT(life.remove(0s), ElementsAre("signal 0 9"));
}

TEST(PodMachine, DeletedWhileTheSandboxIsMade) {
    Life life("Never");
    life.start();
    EXPECT_THAT(life.remove(30s), IsEmpty());
    EXPECT_THAT(life.ready(), ElementsAre("kill"));
    EXPECT_THAT(life.gone(), ElementsAre("delete"));
    EXPECT_EQ(life.phase(), "Failed");
}

TEST(PodMachine, DeletedWhileAContainerStartsItIsStillTermed) {
    Life life("Never");
    life.start();
    life.ready();
    EXPECT_THAT(life.remove(30s), IsEmpty());
    EXPECT_THAT(life.started(), ElementsAre("event Started", "signal 0 15"));
}

TEST(PodMachine, ALostSandboxIsMadeAgainWhereThePolicyAllows) {
    Life life("OnFailure");
    life.run();
    EXPECT_THAT(life.gone(), ElementsAre("event SandboxChanged"));
    EXPECT_EQ(life.container().terminated->exit_code, 137);
    EXPECT_EQ(life.sleeps(), Duration(1s));
    EXPECT_THAT(life.tick(1s), ElementsAre("sandbox"));
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));

    Life never("Never");
    never.run();
    never.gone();
    EXPECT_EQ(never.phase(), "Failed");
    EXPECT_EQ(never.sleeps(), std::nullopt);
}

TEST(PodMachine, SandboxesThatAreLostAgainAndAgainAreMadeAfterPauses) {
    Life life("OnFailure");
    life.start();
    life.ready();
    for (const auto wait : {1s, 10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
        EXPECT_THAT(life.gone(), ElementsAre("event SandboxChanged"));
        EXPECT_EQ(life.sleeps(), Duration(wait));
        EXPECT_THAT(life.tick(wait), ElementsAre("sandbox"));
        life.ready();
    }
    life.tick(11min);
    life.gone();
    EXPECT_EQ(life.sleeps(), Duration(1s)) << "it was there long enough to be forgiven";
}

TEST(PodMachine, WhatIsMissingIsTriedAgain) {
    Life life("Never");
    life.start();
    life.ready();
    EXPECT_THAT(life.print(life.machine->config_failed(0, "configmap \"x\" not found", life.now())),
                ElementsAre("event Failed"));
    EXPECT_EQ(life.container().waiting_reason, "CreateContainerConfigError");
    EXPECT_EQ(life.phase(), "Pending");
    EXPECT_THAT(life.tick(10s), ElementsAre("start 0"));
}

TEST(PodMachine, AStartFailureCountsAsAnEndWith128) {
    Life life("Never");
    life.start();
    life.ready();
    EXPECT_THAT(life.print(life.machine->start_failed(0, "no such program", life.now())),
                ElementsAre("event Failed", "kill"));
    EXPECT_EQ(life.container().terminated->exit_code, 128);
    EXPECT_EQ(life.container().terminated->reason, "StartError");
    EXPECT_EQ(life.phase(), "Failed");
}

TEST(MakePodStatus, ConditionsFollowAndKeepTheirTimes) {
    Life life("Never");
    life.run();
    kube::Pod pod;
    pod.spec.restart_policy = "Never";
    pod.status = make_pod_status(pod, life.machine->facts(), life.now().wall);
    auto status_of = [&](const std::string& type) {
        for (const kube::PodCondition& c : pod.status.conditions)
            if (c.type == type) return c.status + " " + c.reason + " " + c.last_transition_time;
        return std::string("none");
    };
    EXPECT_EQ(status_of("Ready"), "True  2023-11-14T22:13:20Z");
    pod.status.conditions.emplace_back().type = "example.com/foreign";
    life.tick(5s);
    life.exited(0);
    pod.status = make_pod_status(pod, life.machine->facts(), life.now().wall);
    EXPECT_EQ(status_of("Ready"), "False PodCompleted 2023-11-14T22:13:25Z");
    EXPECT_EQ(status_of("Initialized"), "True PodCompleted 2023-11-14T22:13:20Z");
    EXPECT_EQ(status_of("example.com/foreign"), "  ");
    EXPECT_EQ(pod.status.phase, "Succeeded");
    ASSERT_EQ(pod.status.container_statuses.size(), 1u);
    EXPECT_EQ(pod.status.container_statuses[0].ready, false);
    EXPECT_EQ(pod.status.container_statuses[0].state.terminated->finished_at,
              "2023-11-14T22:13:25Z");
}

TEST(QosClass, ByRequestsAndLimits) {
    kube::PodSpec spec;
    spec.containers.resize(1);
    EXPECT_EQ(qos_class(spec), "BestEffort");
    spec.containers[0].resources.requests["cpu"] = 1;
    EXPECT_EQ(qos_class(spec), "Burstable");
    spec.containers[0].resources.limits = {{"cpu", "1000m"}, {"memory", "1Gi"}};
    EXPECT_EQ(qos_class(spec), "Guaranteed");
}

}  // namespace
}  // namespace muster::runtime::pod_machine_test
