#include "runtime/internal/pod_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace muster::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = PodAction::Kind;

/// Feeds a machine and prints what it answers: "sandbox", "start 0", "signal 0 15", "kill",
/// "delete", "event Reason".
class Life {
  public:
    explicit Life(std::string policy, int init = 0, int mains = 1) {
        kube::Pod pod;
        pod.metadata.name = "p";
        pod.metadata.namespace_ = "ns";
        pod.metadata.uid = "u";
        pod.spec.restart_policy = std::move(policy);
        for (int i = 0; i < init; ++i)
            pod.spec.init_containers.emplace_back().name = fmt::format("i{}", i);
        for (int i = 0; i < mains; ++i)
            pod.spec.containers.emplace_back().name = fmt::format("c{}", i);
        machine.emplace(pod, "10.0.0.1", "127.0.0.1", now());
    }
    PodMachine::Now now() const {
        return {Instant(std::chrono::hours(1)) + passed, WallTime(1'700'000'000s) + passed};
    }
    std::vector<std::string> print(const PodActions& actions) {
        std::vector<std::string> lines;
        for (const PodAction& action : actions) switch (action.kind) {
                case Kind::kCreateSandbox:
                    lines.push_back("sandbox");
                    break;
                case Kind::kStartContainer:
                    lines.push_back(fmt::format("start {}", action.container));
                    break;
                case Kind::kSignal:
                    lines.push_back(fmt::format("signal {} {}", action.container, action.signal));
                    break;
                case Kind::kKillSandbox:
                    lines.push_back("kill");
                    break;
                case Kind::kRecordEvent:
                    lines.push_back("event " + action.reason);
                    break;
                case Kind::kDeletePod:
                    lines.push_back("delete");
                    break;
            }
        return lines;
    }
    using Lines = std::vector<std::string>;
    Lines start() { return print(machine->start(now())); }
    Lines ready() { return print(machine->sandbox_ready(now())); }
    Lines gone() { return print(machine->sandbox_gone(now())); }
    Lines started(std::size_t i = 0) { return print(machine->container_started(i, "id", now())); }
    Lines exited(int code, std::size_t i = 0) {
        return print(machine->container_exited(i, code, now()));
    }
    Lines remove(Duration grace) { return print(machine->deletion_requested(grace, now())); }
    Lines tick(Duration later) {
        passed += later;
        return print(machine->tick(now()));
    }
    void run() {
        start();
        ready();
        started();
    }
    std::string phase() const { return machine->phase(); }
    const ContainerRecord& container(std::size_t i = 0) const {
        return machine->facts().containers[i];
    }
    std::optional<Duration> sleeps() const {
        auto at = machine->wake_at();
        if (!at) return std::nullopt;
        return *at - now().mono;
    }

    std::optional<PodMachine> machine;
    Duration passed{};
};

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
    life.ready();
    life.started(0);
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
}  // namespace muster::runtime
