#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "runtime/internal/lifecycle/pod_machine_fixture.h"

namespace muster::runtime::pod_machine_lifecycle_test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ProbeKind kStartup = ProbeKind::kStartup;
constexpr ProbeKind kLiveness = ProbeKind::kLiveness;
constexpr ProbeKind kReadiness = ProbeKind::kReadiness;
constexpr HookKind kPostStart = HookKind::kPostStart;
constexpr HookKind kPreStop = HookKind::kPreStop;

/// Init containers that `kinds` names as i (regular) or s (sidecar), then `mains` containers.
kube::Pod with_sidecars(const std::string& policy, const std::string& kinds, int mains = 1) {
    kube::Pod pod = Life::pod_of(policy, static_cast<int>(kinds.size()), mains);
    for (std::size_t i = 0; i < kinds.size(); ++i)
        if (kinds[i] == 's') pod.spec.init_containers[i].restart_policy = "Always";
    return pod;
}

kube::Pod with(const std::string& policy, std::string_view fields, int mains = 1) {
    kube::Pod pod = Life::pod_of(policy, 0, mains);
    pod.spec.containers[0].rest = json::parse(fields).as_object();
    return pod;
}

constexpr std::string_view kProbe = R"({"tcpSocket": {"port": 1}, "periodSeconds": 1,
                                        "failureThreshold": 2})";
std::string probe_named(std::string_view name) {
    return fmt::format(R"({{"{}": {}}})", name, kProbe);
}

// --- sidecars

TEST(Sidecars, StartInOrderAndTheNextWaitsUntilTheyHaveStarted) {
    kube::Pod pod = with_sidecars("Never", "sis");
    pod.spec.init_containers[0].rest = json::parse(probe_named("startupProbe")).as_object();
    Life life(pod);
    life.start();
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
    EXPECT_THAT(life.started(0), ElementsAre("event Started", "probe 0 Startup"));
    EXPECT_THAT(life.probed(kStartup, true, 0), ElementsAre("start 1"));
    EXPECT_TRUE(life.container(0).started);
    EXPECT_THAT(life.started(1), ElementsAre("event Started"));
    EXPECT_EQ(life.phase(), "Pending");
    EXPECT_THAT(life.exited(0, 1), ElementsAre("start 2"));
    EXPECT_THAT(life.started(2), ElementsAre("event Started", "start 3"));
    life.started(3);
    EXPECT_EQ(life.phase(), "Running");
}

TEST(Sidecars, TheyStopInReverseOrderAfterTheWorkAndDoNotDecideThePhase) {
    Life life(with_sidecars("Never", "ss"));
    life.start();
    life.ready();
    life.started(0);
    life.started(1);
    life.started(2);
    EXPECT_THAT(life.exited(0, 2), ElementsAre("event Killing", "signal 1 15"));
    EXPECT_EQ(life.phase(), "Running") << "not terminal while anything runs";
    EXPECT_EQ(life.sleeps(), Duration(30s)) << "they have the pod's grace";
    EXPECT_THAT(life.exited(143, 1), ElementsAre("event Killing", "signal 0 15"));
    EXPECT_EQ(life.phase(), "Running");
    EXPECT_THAT(life.exited(1, 0), ElementsAre("kill"));
    EXPECT_EQ(life.phase(), "Succeeded");
}

TEST(Sidecars, TheyAreRestartedWhateverThePolicyAndTheRestRunsOn) {
    Life life(with_sidecars("Never", "s"));
    life.start();
    life.ready();
    life.started(0);
    life.started(1);
    EXPECT_THAT(life.exited(0, 0), ElementsAre("start 0"));
    EXPECT_EQ(life.phase(), "Running");
    life.started(0);
    EXPECT_THAT(life.exited(1, 0), ElementsAre("event BackOff"));
    EXPECT_EQ(life.container(0).restarts, 1);
    EXPECT_EQ(life.phase(), "Running");
    EXPECT_THAT(life.exited(0, 1), ElementsAre("kill")) << "none is left to be stopped";
    EXPECT_EQ(life.phase(), "Succeeded");
}

TEST(Sidecars, OneThatDiesBeforeItStartedHoldsUpTheRest) {
    kube::Pod pod = with_sidecars("Never", "s");
    pod.spec.init_containers[0].rest = json::parse(probe_named("startupProbe")).as_object();
    Life life(pod);
    life.start();
    life.ready();
    life.started(0);
    EXPECT_THAT(life.exited(1, 0), ElementsAre("start 0"));
    EXPECT_EQ(life.phase(), "Pending");
    EXPECT_THAT(life.started(0), ElementsAre("event Started", "probe 0 Startup"));
    EXPECT_THAT(life.probed(kStartup, true, 0), ElementsAre("start 1"));
}

TEST(Sidecars, AFailedInitContainerEndsThemToo) {
    Life life(with_sidecars("Never", "si"));
    life.start();
    life.ready();
    life.started(0);
    life.started(1);
    EXPECT_THAT(life.exited(1, 1), ElementsAre("event Killing", "signal 0 15"));
    EXPECT_THAT(life.exited(0, 0), ElementsAre("kill"));
    EXPECT_EQ(life.phase(), "Failed");
}

TEST(Sidecars, DeletedTheyGoAfterTheContainersWithinTheGraceOrTwoSeconds) {
    Life life(with_sidecars("Always", "s"));
    life.start();
    life.ready();
    life.started(0);
    life.started(1);
    EXPECT_THAT(life.remove(5s), ElementsAre("event Killing", "signal 1 15"));
    EXPECT_THAT(life.tick(5s), ElementsAre("signal 1 9"));
    EXPECT_THAT(life.exited(137, 1), ElementsAre("event Killing", "signal 0 15"));
    EXPECT_THAT(life.remove(5s), IsEmpty()) << "the same deletion seen again";
    EXPECT_EQ(life.sleeps(), Duration(2s));
    EXPECT_THAT(life.tick(2s), ElementsAre("signal 0 9"));
    EXPECT_THAT(life.exited(137, 0), ElementsAre("kill"));
    EXPECT_THAT(life.gone(), ElementsAre("delete"));
}

TEST(Sidecars, ADeletionThatIsSeenAgainGivesThemNoMoreTime) {
    Life life(with_sidecars("Always", "s"));
    life.start();
    life.ready();
    life.started(0);
    life.started(1);
    life.remove(30s);
    life.tick(10s);
    life.remove(30s);
    life.exited(143, 1);
    EXPECT_EQ(life.sleeps(), Duration(20s));
}

TEST(Sidecars, DeletedWithoutGraceAllGoAtOnce) {
    Life life(with_sidecars("Always", "s"));
    life.start();
    life.ready();
    life.started(0);
    life.started(1);
    EXPECT_THAT(life.remove(0s),
                ElementsAre("event Killing", "signal 0 9", "event Killing", "signal 1 9"));
}

// --- probes

TEST(Probes, ReadinessDecidesReadyAndNothingElse) {
    Life life(with("Never", probe_named("readinessProbe")));
    life.start();
    life.ready();
    EXPECT_THAT(life.started(), ElementsAre("event Started", "probe 0 Readiness"));
    EXPECT_EQ(life.phase(), "Running");
    EXPECT_TRUE(life.container().started);
    EXPECT_FALSE(life.container().ready);
    EXPECT_THAT(life.probed(kReadiness, true), IsEmpty());
    EXPECT_TRUE(life.container().ready);
    EXPECT_EQ(life.sleeps(), Duration(1s));
    for (int i = 0; i < 2; ++i) {
        EXPECT_THAT(life.tick(1s), ElementsAre("probe 0 Readiness"));
        EXPECT_THAT(life.probed(kReadiness, false), ElementsAre("event Unhealthy"));
    }
    EXPECT_FALSE(life.container().ready);
    EXPECT_EQ(life.messages.back(), "Readiness probe failed: refused");
    EXPECT_EQ(life.phase(), "Running");
}

TEST(Probes, AFailedLivenessOrStartupProbeKillsWithGraceAndThePolicyDecides) {
    struct Case {
        const char* field;
        ProbeKind kind;
        const char* policy;
        const char* message;
        const char* after;  ///< an exit with 0 on SIGTERM
    };
    const Case cases[] = {
        {"livenessProbe", kLiveness, "Always",
         "Container c0 failed liveness probe, will be restarted", "start 0"},
        {"livenessProbe", kLiveness, "OnFailure",
         "Container c0 failed liveness probe, will be restarted", "start 0"},
        {"livenessProbe", kLiveness, "Never", "Container c0 failed liveness probe", "kill"},
        {"startupProbe", kStartup, "OnFailure",
         "Container c0 failed startup probe, will be restarted", "start 0"},
        {"startupProbe", kStartup, "Never", "Container c0 failed startup probe", "kill"}};
    for (const Case& c : cases) {
        SCOPED_TRACE(fmt::format("{} {}", c.field, c.policy));
        Life life(with(c.policy, probe_named(c.field)));
        life.run();
        EXPECT_THAT(life.probed(c.kind, false), ElementsAre("event Unhealthy"));
        life.tick(1s);
        EXPECT_THAT(life.probed(c.kind, false),
                    ElementsAre("event Unhealthy", "event Killing", "signal 0 15"));
        EXPECT_EQ(life.messages.back(), c.message);
        EXPECT_EQ(life.sleeps(), Duration(30s)) << "the pod's grace, and no probe";
        EXPECT_THAT(life.tick(30s), ElementsAre("signal 0 9"));
        EXPECT_THAT(life.exited(0), ElementsAre(c.after));
    }
}

TEST(Probes, AProbeMayHaveAGraceOfItsOwn) {
    Life life(with("Always", R"({"livenessProbe": {"tcpSocket": {"port": 1}, "failureThreshold": 1,
                                                   "terminationGracePeriodSeconds": 3}})"));
    life.run();
    life.probed(kLiveness, false);
    EXPECT_EQ(life.sleeps(), Duration(3s));
}

TEST(Probes, ResultsOfAnInstanceThatEndedAreIgnored) {
    Life life(
        with("Always", R"({"livenessProbe": {"tcpSocket": {"port": 1}, "failureThreshold": 1}})"));
    life.run();
    const std::uint32_t first = life.instance;
    life.exited(1);
    EXPECT_THAT(life.print(life.machine->probe_ended(0, first, kLiveness, {}, life.now())),
                IsEmpty());
    life.started();
    EXPECT_NE(life.instance, first);
    EXPECT_THAT(life.print(life.machine->probe_ended(0, first, kLiveness, {}, life.now())),
                IsEmpty());
    EXPECT_THAT(life.probed(kLiveness, false), Contains("signal 0 15"));
}

TEST(Probes, WhileThePodIsEndedNothingIsKilledForALivenessProbe) {
    Life life(with("Always", probe_named("livenessProbe")));
    life.run();
    life.remove(30s);
    EXPECT_THAT(life.probed(kLiveness, false), ElementsAre("event Unhealthy"));
    EXPECT_EQ(life.sleeps(), Duration(30s));
}

// --- hooks

TEST(Hooks, PostStartHoldsUpTheNextContainerAndRunning) {
    Life life(with("Never", R"({"lifecycle": {"postStart": {"sleep": {"seconds": 1}}}})", 2));
    life.start();
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
    EXPECT_THAT(life.started(0), ElementsAre("event Started", "hook 0 PostStart"));
    EXPECT_EQ(life.container(0).state, ContainerRecord::State::kWaiting);
    EXPECT_EQ(life.phase(), "Pending");
    EXPECT_THAT(life.hooked(kPostStart, true), ElementsAre("start 1"));
    EXPECT_TRUE(life.container(0).started);
}

TEST(Hooks, AFailedPostStartKillsTheContainer) {
    Life life(with("OnFailure", R"({"lifecycle": {"postStart": {"sleep": {"seconds": 1}}}})"));
    life.run();
    EXPECT_THAT(life.hooked(kPostStart, false),
                ElementsAre("event FailedPostStartHook", "event Killing", "signal 0 15"));
    EXPECT_EQ(life.messages[1], "PostStart hook of container c0 failed: exit code 1");
    EXPECT_FALSE(life.container().started);
    EXPECT_THAT(life.exited(143), ElementsAre("start 0"));
}

TEST(Hooks, AContainerThatEndsDuringItsPostStartIsJustOneThatEnded) {
    Life life(with("Never", R"({"lifecycle": {"postStart": {"sleep": {"seconds": 1}}}})"));
    life.run();
    EXPECT_THAT(life.exited(0), ElementsAre("kill"));
    EXPECT_THAT(life.hooked(kPostStart, false), IsEmpty());
    EXPECT_EQ(life.phase(), "Succeeded");
}

constexpr std::string_view kPreStopAndSignal =
    R"({"lifecycle": {"preStop": {"sleep": {"seconds": 1}}, "stopSignal": "SIGINT"}})";

TEST(Hooks, PreStopRunsInsideTheGraceAndThenTheStopSignalComes) {
    Life life(with("Always", kPreStopAndSignal));
    life.run();
    EXPECT_THAT(life.remove(30s), ElementsAre("event Killing", "hook 0 PreStop"));
    life.tick(10s);
    EXPECT_THAT(life.hooked(kPreStop, true), ElementsAre("signal 0 2"));
    EXPECT_EQ(life.sleeps(), Duration(20s)) << "its time is taken off the grace";
    EXPECT_THAT(life.tick(20s), ElementsAre("signal 0 9"));
}

TEST(Hooks, AFailedPreStopIsToldAndChangesNothing) {
    Life life(with("Always", kPreStopAndSignal));
    life.run();
    life.remove(30s);
    EXPECT_THAT(life.hooked(kPreStop, false), ElementsAre("event FailedPreStopHook", "signal 0 2"));
}

TEST(Hooks, AfterAHookThatUsedUpTheGraceTheSignalHasTwoSeconds) {
    Life life(with("Always", kPreStopAndSignal));
    life.run();
    life.remove(5s);
    EXPECT_EQ(life.sleeps(), Duration(5s));
    EXPECT_THAT(life.tick(5s), ElementsAre("signal 0 2"));
    EXPECT_EQ(life.sleeps(), Duration(2s));
    EXPECT_THAT(life.hooked(kPreStop, true), IsEmpty()) << "too late";
    EXPECT_THAT(life.tick(2s), ElementsAre("signal 0 9"));
}

TEST(Hooks, WithoutGraceNoHookRunsAndOneThatRunsIsNotWaitedFor) {
    Life none(with("Always", kPreStopAndSignal));
    none.run();
    EXPECT_THAT(none.remove(0s), ElementsAre("event Killing", "signal 0 9"));
    Life shortened(with("Always", kPreStopAndSignal));
    shortened.run();
    shortened.remove(30s);
    EXPECT_THAT(shortened.remove(0s), ElementsAre("signal 0 9"));
}

TEST(Hooks, ALivenessKillRunsThePreStopHookToo) {
    kube::Pod pod = with("Always", kPreStopAndSignal);
    pod.spec.containers[0].rest["livenessProbe"] =
        json::parse(R"({"tcpSocket": {"port": 1}, "failureThreshold": 1})");
    Life life(pod);
    life.run();
    EXPECT_THAT(life.probed(kLiveness, false),
                ElementsAre("event Unhealthy", "event Killing", "hook 0 PreStop"));
    EXPECT_THAT(life.hooked(kPreStop, true), ElementsAre("signal 0 2"));
    EXPECT_THAT(life.exited(130), ElementsAre("start 0"));
}

// --- the pod's deadline

TEST(ContainerStatuses, HaveAnImageIdWithoutWhichTypedClientsReadNoPod) {
    kube::Pod pod = Life::pod_of("Never", 0, 1);
    pod.spec.containers[0].image = "docker.io/library/python:3";
    Life life(pod);
    const kube::PodStatus status = make_pod_status(pod, life.machine->facts(), life.now().wall);
    ASSERT_EQ(status.container_statuses.size(), 1U);
    EXPECT_EQ(status.container_statuses[0].image_id, "docker.io/library/python:3");
}

TEST(ActiveDeadline, EndsThePodWithItsGraceAndFailsIt) {
    kube::Pod pod = Life::pod_of("Always");
    pod.spec.active_deadline_seconds = 60;
    Life life(pod);
    life.run();
    EXPECT_EQ(life.active_for(), Duration(60s));
    EXPECT_THAT(life.tick(60s),
                ElementsAre("event DeadlineExceeded", "event Killing", "signal 0 15"));
    EXPECT_EQ(life.active_for(), std::nullopt);
    EXPECT_EQ(life.phase(), "Running") << "not before its processes are gone";
    EXPECT_THAT(life.exited(0), ElementsAre("kill")) << "no restart";
    const kube::PodStatus status = make_pod_status(pod, life.machine->facts(), life.now().wall);
    EXPECT_EQ(status.phase, "Failed");
    EXPECT_EQ(status.reason, "DeadlineExceeded");
    EXPECT_EQ(status.message, "Pod was active on the node longer than the specified deadline");
    life.gone();
    EXPECT_TRUE(life.machine->finished());
    EXPECT_EQ(life.sleeps(), std::nullopt);
}

TEST(ActiveDeadline, MayBeSetAndShortenedWhileThePodRuns) {
    Life life("Always");
    life.run();
    life.tick(10s);
    EXPECT_THAT(life.print(life.machine->deadline_changed(60, life.now())), IsEmpty());
    EXPECT_EQ(life.active_for(), Duration(50s)) << "counted from the pod's start";
    EXPECT_THAT(life.print(life.machine->deadline_changed(5, life.now())),
                ElementsAre("event DeadlineExceeded", "event Killing", "signal 0 15"));
}

TEST(ActiveDeadline, CountsWhileTheMachineIsSuspended) {
    kube::Pod pod = Life::pod_of("Always");
    pod.spec.active_deadline_seconds = 60;
    Life life(pod);
    life.run();
    life.tick(10s);
    life.suspended = 49s;
    EXPECT_THAT(life.tick(0s), IsEmpty());
    life.suspended = 50s;
    EXPECT_THAT(life.tick(0s),
                ElementsAre("event DeadlineExceeded", "event Killing", "signal 0 15"));
}

TEST(ActiveDeadline, CountsWhileThePodWaitsToo) {
    kube::Pod pod = Life::pod_of("Never");
    pod.spec.active_deadline_seconds = 5;
    Life life(pod);
    life.start();
    life.print(life.machine->sandbox_failed("FailedMount", "no", life.now()));
    EXPECT_THAT(life.tick(5s), ElementsAre("event DeadlineExceeded"));
    EXPECT_EQ(life.phase(), "Failed");
    EXPECT_TRUE(life.machine->finished());
}

TEST(ActiveDeadline, WhatIsDoneInTimeIsNotFailed) {
    kube::Pod pod = Life::pod_of("Never");
    pod.spec.active_deadline_seconds = 5;
    Life life(pod);
    life.run();
    life.exited(0);
    EXPECT_THAT(life.tick(5s), IsEmpty());
    EXPECT_EQ(life.phase(), "Succeeded");
}

// --- the status

TEST(MakePodStatus, SidecarsCountForReadyAndInitializedButNotForThePhase) {
    kube::Pod pod = with_sidecars("Never", "s");
    pod.spec.init_containers[0].rest = json::parse(probe_named("readinessProbe")).as_object();
    Life life(pod);
    auto status_of = [&](const std::string& type) {
        const kube::PodStatus status = make_pod_status(pod, life.machine->facts(), life.now().wall);
        for (const kube::PodCondition& c : status.conditions)
            if (c.type == type) return c.status + " " + c.message;
        return std::string("none");
    };
    life.start();
    life.ready();
    EXPECT_EQ(status_of("Initialized"), "False containers with incomplete status: [i0]");
    life.started(0);
    EXPECT_EQ(status_of("Initialized"), "True ");
    life.started(1);
    EXPECT_EQ(status_of("Ready"), "False containers with unready status: [i0]");
    life.probed(kReadiness, true, 0);
    EXPECT_EQ(status_of("Ready"), "True ");
    const kube::PodStatus status = make_pod_status(pod, life.machine->facts(), life.now().wall);
    EXPECT_EQ(status.init_container_statuses[0].started, true);
    EXPECT_EQ(status.init_container_statuses[0].ready, true);
    EXPECT_EQ(status.phase, "Running");
}

TEST(MakePodStatus, MessagesOfAPodShareTwelveKilobytes) {
    kube::Pod pod = Life::pod_of("Never", 0, 6);
    Life life(pod);
    life.start();
    life.ready();
    for (std::size_t i = 0; i < 6; ++i) {
        life.started(i);
        life.machine->container_exited(
            i, {.exit_code = 1, .reason = "OOMKilled", .message = std::string(4096, 'x')},
            life.now());
    }
    const kube::PodStatus status = make_pod_status(pod, life.machine->facts(), life.now().wall);
    for (const kube::ContainerStatus& container : status.container_statuses) {
        EXPECT_EQ(container.state.terminated->message.size(), 2048u);
        EXPECT_EQ(container.state.terminated->reason, "OOMKilled");
    }
}

TEST(PodMachine, ANewSandboxRunsTheInitContainersAgain) {
    Life life("OnFailure", 1, 1);
    life.start();
    life.ready();
    life.started(0);
    life.exited(0, 0);
    life.started(1);
    EXPECT_THAT(life.gone(), ElementsAre("event SandboxChanged"));
    EXPECT_THAT(life.tick(1s), ElementsAre("sandbox"));
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));
    EXPECT_THAT(life.started(0), ElementsAre("event Started"));
    EXPECT_EQ(life.container(0).restarts, 1);
    EXPECT_EQ(life.phase(), "Running");
    EXPECT_THAT(life.exited(0, 0), ElementsAre("start 1"));
}

}  // namespace
}  // namespace muster::runtime::pod_machine_lifecycle_test
