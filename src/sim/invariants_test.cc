#include "sim/invariants.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/changes_fixture.h"

namespace muster::sim::invariants_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kGoing = R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})";

std::string condition(std::string_view type, std::string_view more = "") {
    return fmt::format(R"({{"status":{{"conditions":[{{"type":"{}","status":"True"}}]{}}}}})", type,
                       more);
}
std::string finished(const Changes& world, std::string_view type = "Succeeded",
                     std::string_view more = "") {
    return condition(type, fmt::format(R"(,"completionTime":"{}"{})", world.time(), more));
}
std::string told(int restarts) {
    return fmt::format(R"({{"status":{{"replicaStatuses":{{"Worker":{{"restarts":{}}}}}}}}})",
                       restarts);
}
std::string in_place(int restarts) {
    return fmt::format(
        R"({{"status":{{"phase":"Running","containerStatuses":[{{"restartCount":{}}}]}}}})",
        restarts);
}

constexpr std::string_view kGroupWithMaster = R"({
    "apiVersion":"elastic.iml.github.io/v1alpha1","kind":"ElasticJob",
    "metadata":{"name":"j","annotations":{"muster.dev/restart":"group"}},
    "spec":{"pytorchReplicaSpecs":null,"replicaSpecs":{
        "worker":{"template":{"spec":{"containers":[{"name":"m","image":"i"}]}}}}}})";
constexpr std::string_view kMaster =
    R"({"metadata":{"labels":{"training.kubeflow.org/replica-type":"dlrover-master"}}})";
constexpr std::string_view kNextMaster =
    R"({"metadata":{"labels":{"training.kubeflow.org/replica-type":"dlrover-master"},
                    "annotations":{"muster.dev/rank":"0"}}})";
std::string master_ended(int code) {
    return fmt::format(R"({{"status":{{"phase":"Failed","containerStatuses":[
                              {{"state":{{"terminated":{{"exitCode":{}}}}}}}]}}}})",
                       code);
}

/// What happens, and the rule that it breaks ("" for none).
struct Case {
    const char* name;
    std::string broken;
    std::function<void(Changes&)> happens;
};

class EachInvariant : public ::testing::TestWithParam<Case> {};

TEST_P(EachInvariant, IsBrokenByThisAlone) {
    Changes world;
    GetParam().happens(world);
    if (GetParam().broken.empty())
        EXPECT_THAT(world.broken(), IsEmpty());
    else
        EXPECT_THAT(world.broken(), ElementsAre(GetParam().broken));
}

constexpr std::string_view kLauncherAndTwo = R"({
    "apiVersion":"kubeflow.org/v1","kind":"MPIJob","metadata":{"name":"j"},
    "spec":{"pytorchReplicaSpecs":null,"mpiReplicaSpecs":{
        "Launcher":{"template":{"spec":{"containers":[{"name":"m","image":"i"}]}}},
        "Worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"m","image":"i"}]}}}}}})";
constexpr std::string_view kLauncher = R"({"metadata":{"labels":{
    "training.kubeflow.org/replica-type":"launcher",
    "training.kubeflow.org/replica-index":null}}})";
constexpr const char* kNoted = R"({"status":{"replicaStatuses":{"Worker":{"active":1}}}})";
constexpr std::string_view kReady =
    R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})";

std::vector<Case> cases() {
    return {
        {"TwoLivePods", "one-pod",
         [](Changes& w) {
             w.pod("a", 0);
             w.pod("b", 0);
         }},
        {"ALauncherBeforeItsWorkers", "order",
         [](Changes& w) {
             w.job(kLauncherAndTwo);
             w.pod("a", 0, kReady);
             w.pod("b", 1);
             w.pod("l", 0, kLauncher);
         }},
        {"ALauncherAfterItsWorkers", "",
         [](Changes& w) {
             w.job(kLauncherAndTwo);
             w.pod("a", 0, kReady);
             w.pod("b", 1, R"({"status":{"phase":"Succeeded"}})");
             w.pod("l", 0, kLauncher);
         }},
        {"ALauncherAfterAWorkerThatWasReplaced", "order",
         [](Changes& w) {
             w.job(kLauncherAndTwo);
             w.job(R"({"metadata":{"annotations":{"muster.dev/restart":"replica"}}})");
             w.pod("a", 0, kReady);
             w.pod("b", 1, kReady);
             w.pod("b", 1, R"({"status":{"phase":"Failed"}})");
             w.remove_pod("b");
             w.pod("c", 1);
             w.pod("l", 0, kLauncher);
         }},
        {"ALauncherThatIsToldToStartAtOnce", "",
         [](Changes& w) {
             w.job(kLauncherAndTwo);
             w.job(R"({"spec":{"launcherCreationPolicy":"AtStartup"}})");
             w.pod("l", 0, kLauncher);
         }},
        {"APodAfterOneThatGoes", "",
         [](Changes& w) {
             w.pod("a", 0);
             w.pod("a", 0, kGoing, "operator-1");
             w.pod("b", 0);
         }},
        {"PodsOfTwoGenerations", "",
         [](Changes& w) {
             w.pod("a", 0);
             w.pod("b", 0, R"({"metadata":{"annotations":{"muster.dev/generation":"1"}}})");
         }},
        {"ATerminalConditionChanges", "final",
         [](Changes& w) {
             w.job(finished(w));
             w.job(finished(w, "Failed"));
         }},
        {"ACompletionTimeChanges", "final",
         [](Changes& w) {
             w.job(finished(w));
             w.wait(5s);
             w.job(finished(w));
         }},
        {"SucceededAndFailed", "exclusive",
         [](Changes& w) {
             w.job(R"({"status":{"completionTime":"2026-01-01T00:00:00Z","conditions":[
                 {"type":"Succeeded","status":"True"},{"type":"Failed","status":"True"}]}})");
         }},
        {"RunningAndRestarting", "exclusive",
         [](Changes& w) {
             w.job(R"({"status":{"conditions":[{"type":"Running","status":"True"},
                 {"type":"Restarting","status":"True"}]}})");
         }},
        {"RunningAndNoLongerRestarting", "",
         [](Changes& w) {
             w.job(R"({"status":{"conditions":[{"type":"Running","status":"True"},
                 {"type":"Restarting","status":"False"}]}})");
         }},
        {"FinishedWithoutCompletionTime", "completion-time",
         [](Changes& w) { w.job(condition("Succeeded")); }},
        {"CompletionTimeUnfinished", "completion-time",
         [](Changes& w) { w.job(finished(w, "Running")); }},
        {"RestartsFall", "restarts-fall",
         [](Changes& w) {
             w.pod("a", 0, in_place(2));
             w.job(told(2));
             w.job(told(1));
         }},
        {"MoreRestartsThanHappened", "restarts-most",
         [](Changes& w) {
             w.pod("a", 0, in_place(1));
             w.job(told(2));
         }},
        {"AFailureCountsOnce", "restarts-most",
         [](Changes& w) {
             w.replaced("a", 0, "b");
             w.job(told(2));
         }},
        {"WhatTheOperatorStoppedIsNoRestart", "restarts-most",
         [](Changes& w) {
             w.pod("a", 0, kRunning);
             w.pod("a", 0, kGoing, "operator-1");
             w.pod("a", 0, kFailed);
             w.job(told(1));
         }},
        {"WhatSomebodyElseStoppedIsOne", "",
         [](Changes& w) {
             w.pod("a", 0, kRunning);
             w.pod("a", 0, kGoing, "user");
             w.job(told(1));
         }},
        {"WhatNeverRanIsNone", "restarts-most",
         [](Changes& w) {
             w.pod("a", 0);
             w.pod("a", 0, kGoing, "user");
             w.job(told(1));
         }},
        {"AGroupRestartThatNeverWas", "restarts-most",
         [](Changes& w) { w.job(R"({"status":{"restartGeneration":1}})"); }},
        {"FewerRestartsThanHappened", "restarts-least",
         [](Changes& w) {
             w.pod("a", 0, in_place(2));
             w.job(told(1));
             w.wait(1min);
             w.job(finished(w));
         }},
        {"AFailureThatIsNotCounted", "restarts-least",
         [](Changes& w) {
             w.replaced("a", 0, "b");
             w.wait(1min);
             w.job(finished(w));
         }},
        {"AnOperatorThatBeginsAnewKnowsAGoneReplicaByTheStatusAlone", "",
         [](Changes& w) {
             w.replaced("a", 0, "b");
             w.pod("b", 0, kRunning);
             w.job(told(1));
             w.remove_pod("b", "user");
             w.begins_anew();
             w.replaced("x", 1, "y");  // hides behind what the status tells
             w.pod("c", 0, kRunning);
             w.wait(1min);
             w.job(finished(w));
         }},
        {"AnOperatorThatBeginsAnewSeesWhatIsThere", "restarts-least",
         [](Changes& w) {
             w.replaced("a", 0, "b");
             w.begins_anew();
             w.wait(1min);
             w.job(finished(w));
         }},
        {"RestartsAfterTheEndAreInNoAccount", "",
         [](Changes& w) {
             w.job(finished(w, "Failed"));
             w.pod("a", 0, in_place(2));
             w.wait(1min);
         }},
        {"AnEditExcusesWhatGoes", "",
         [](Changes& w) {
             w.pod("a", 0, kRunning);
             w.job(R"({"metadata":{"generation":2}})", "user");
             w.pod("a", 0, kFailed);
             w.remove_pod("a");
             w.pod("b", 0);
             w.wait(1min);
             w.job(finished(w));
         }},
        {"AGroupStaysInItsGeneration", "groups",
         [](Changes& w) {
             w.job(R"({"metadata":{"annotations":{"muster.dev/restart":"group"}}})", "user");
             w.replaced("a", 0, "b");
         }},
        {"AGroupGoesOnToTheNext", "",
         [](Changes& w) {
             w.job(R"({"metadata":{"annotations":{"muster.dev/restart":"group"}}})", "user");
             w.replaced("a", 0, "b",
                        R"({"metadata":{"annotations":{"muster.dev/generation":"1"}}})");
         }},
        {"AGroupOutlivesADeathOfItsMaster", "",
         [](Changes& w) {
             w.job(kGroupWithMaster, "user");
             w.pod("a", 0, kMaster);
             w.pod("a", 0, master_ended(137));
             w.remove_pod("a");
             w.pod("b", 1, kNextMaster);
         }},
        {"AGroupGoesOnToTheNextAsItsMasterSays", "groups",
         [](Changes& w) {
             w.job(kGroupWithMaster, "user");
             w.pod("a", 0, kMaster);
             w.pod("a", 0, master_ended(1));
             w.remove_pod("a");
             w.pod("b", 1, kNextMaster);
         }},
        {"APodWithoutAPause", "back-off",
         [](Changes& w) {
             w.replaced("a", 0, "b");
             w.wait(1min);
             w.pod("b", 0, kRunning);
             w.replaced("b", 0, "c");
             w.wait(8s);
             w.replaced("c", 0, "d");
         }},
        {"PodsWithPauses", "",
         [](Changes& w) {
             w.replaced("a", 0, "b");
             w.wait(10s);
             w.replaced("b", 0, "c");
             w.wait(20s);
             w.replaced("c", 0, "d");
         }},
        {"APodBeyondTheLimit", "backoff-limit",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"backoffLimit":1}}})", "user");
             w.replaced("a", 0, "b");
         }},
        {"APodBelowTheLimit", "",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"backoffLimit":2}}})", "user");
             w.replaced("a", 0, "b");
         }},
        {"SuccessBeyondTheLimit", "backoff-limit",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"backoffLimit":2}}})", "user");
             w.pod("a", 0, in_place(2));
             w.job(told(2));
             w.wait(1min);
             w.job(finished(w));
         }},
        {"ADeadlineThatDoesNotFire", "deadline",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"activeDeadlineSeconds":10}}})", "user");
             w.job(fmt::format(R"({{"status":{{"startTime":"{}"}}}})", w.time()));
             EXPECT_TRUE(w.asked_for_deadline());
             w.wait(11s);
             w.deadline_passed();
         }},
        {"ADeadlineThatTheCalendarJumpedOver", "deadline",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"activeDeadlineSeconds":10, "suspend":false}}})",
                   "user");
             w.job(fmt::format(R"({{"status":{{"startTime":"{}"}}}})", w.time()));
             w.set_calendar(1h);
             w.deadline_passed();
         }},
        {"ADeadlineThatFired", "",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"activeDeadlineSeconds":10}}})", "user");
             w.job(fmt::format(R"({{"status":{{"startTime":"{}"}}}})", w.time()));
             w.wait(10s);
             w.job(finished(w, "Failed"));
             w.wait(1s);
             w.deadline_passed();
         }},
        {"ADeletionWithoutATtl", "ttl",
         [](Changes& w) {
             w.job(finished(w));
             w.remove_job("operator-1");
         }},
        {"ATtlTooEarly", "ttl",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"ttlSecondsAfterFinished":10}}})", "user");
             w.job(finished(w));
             w.wait(9s);
             w.remove_job("operator-1");
         }},
        {"ATtlInTime", "",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"ttlSecondsAfterFinished":10}}})", "user");
             w.job(finished(w));
             w.wait(11s);
             w.remove_job("operator-1");
             w.end();
         }},
        {"ATtlInTimeByTheCalendarOfItsRequest", "",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"ttlSecondsAfterFinished":10}}})", "user");
             w.job(finished(w));
             w.wait(11s);
             w.set_calendar(-7s);
             w.wait(2s);
             w.remove_job("operator-1");
         }},
        {"ATtlOfACalendarThatWasSetBackLongAgo", "ttl",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"ttlSecondsAfterFinished":10}}})", "user");
             w.job(finished(w));
             w.wait(11s);
             w.set_calendar(-7s);
             w.wait(4s);
             w.remove_job("operator-1");
         }},
        {"ATtlTooEarlyByTheCalendarOfItsRequest", "ttl",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"ttlSecondsAfterFinished":10}}})", "user");
             w.job(finished(w));
             w.wait(5s);
             w.set_calendar(-2s);
             w.remove_job("operator-1");
         }},
        {"ATtlWhileSuspended", "ttl",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"ttlSecondsAfterFinished":1,"suspend":true}}})",
                   "user");
             w.job(finished(w));
             w.wait(1min);
             w.remove_job("operator-1");
         }},
        {"ATtlThatNeverComes", "ttl",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"ttlSecondsAfterFinished":10}}})", "user");
             w.job(finished(w));
             w.wait(1min);
             w.end();
         }},
        {"AUserMayDelete", "",
         [](Changes& w) {
             w.remove_job("user");
             w.end();
         }},
        {"AJobThatNeverEnds", "ends",
         [](Changes& w) {
             w.job(condition("Running"));
             w.end();
         }},
        {"AJobThatSaysThatItIsSuspended", "",
         [](Changes& w) {
             w.job(R"({"spec":{"runPolicy":{"suspend":true}}})", "user");
             w.job(condition("Suspended"));
             w.end();
         }},
        {"AJobThatRestartsForEver", "",
         [](Changes& w) {
             w.job(R"({"spec":{"pytorchReplicaSpecs":{"Worker":{"restartPolicy":"Always"}}}})",
                   "user");
             w.job(condition("Running"));
             w.end();
         }},
        {"ADeposedLeaderThatWrites", "one-leader",
         [](Changes& w) {
             w.leads("operator-1");
             w.job(condition("Running"), "operator-1");
             w.leads("operator-2");
             w.job(condition("Created"), "operator-1");  // its successor has not begun
             w.job(condition("Running"), "operator-2");
             w.job(condition("Created"), "operator-1");
         }},
        {"OneLeaderAfterTheOther", "",
         [](Changes& w) {
             w.leads("operator-1");
             w.job(condition("Running"), "operator-1");
             w.leads("operator-2");
             w.job(condition("Running"), "operator-2");
             w.leads("operator-1");
             w.job(condition("Running"), "operator-1");
             w.job(condition("Running"), "user");
         }},
        {"AWriteAboutAJobOfWhichNothingHappens", "quiet-job",
         [](Changes& w) {
             w.pod("a", 0, kReady);
             w.job(condition("Running"));
             w.wait(1min);
             w.job(kNoted);
         }},
        {"AWriteSoonAfterAReport", "",
         [](Changes& w) {
             w.pod("a", 0, kReady);
             w.job(condition("Running"));
             w.wait(1min);
             w.pod("a", 0, kReady);
             w.wait(10s);
             w.job(kNoted);
         }},
        {"AWriteAboutAJobThatWaitsForAPod", "",
         [](Changes& w) {
             w.pod("a", 0, kRunning);
             w.job(condition("Running"));
             w.wait(1min);
             w.job(kNoted);
         }},
        {"AWriteWhenTheCalendarWasSet", "",
         [](Changes& w) {
             w.pod("a", 0, kReady);
             w.job(condition("Running"));
             w.wait(1min);
             w.set_calendar(5s);
             w.job(kNoted);
         }},
        {"ARecordThatIsWrittenForNoReason", "quiet-job",
         [](Changes& w) {
             w.pod("a", 0, kReady);
             w.job(condition("Running"));
             w.wait(1min);
             w.record("master");
         }},
        {"ARecordThatIsWrittenWhenItsAgentsHaveASay", "",
         [](Changes& w) {
             w.pod("a", 0, kReady);
             w.job(condition("Running"));
             w.wait(1min);
             w.agents_act();
             w.record("master");
         }},
        {"APlanThatIsExecutedAgain", "plan-once",
         [](Changes& w) {
             for (const char* plan : {"p", "q", "p"})
                 w.job(
                     fmt::format(R"({{"status":{{"plan":{{"uid":"{}","generation":1}}}}}})", plan));
         }},
        {"APlanThatSucceedsAndWasNotExecuted", "plan-once",
         [](Changes& w) {
             w.plan("p", R"({"status":{"phase":"Succeeded","observedGeneration":1}})",
                    "operator-1");
         }},
        {"APlanThatDoesNotEnd", "ends",
         [](Changes& w) {
             w.plan("p", R"({"status":{"phase":"Pending","observedGeneration":1}})");
             w.remove_job("user");
             w.end();
         }},
        {"AnOrphan", "orphans",
         [](Changes& w) {
             w.pod("a", 0);
             w.remove_job("user");
             w.end();
         }},
    };
}

INSTANTIATE_TEST_SUITE_P(All, EachInvariant, ::testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(Invariants, EachHasACaseThatBreaksIt) {
    // The world itself says the first; the second is in invariants_ranks_test.cc. The others are of agents
    // (elastic/invariants_test.cc), and of both layers together (internal/elastic_pods_test.cc,
    // internal/elastic_job_test.cc).
    std::set<std::string> broken{"quiet",         "new-ids",      "worlds",     "ranks",
                                 "stores",        "healthy-stop", "charges",    "verdict",
                                 "agent-end",     "recovery",     "accepted",   "success",
                                 "real-restarts", "one-world",    "workers-end"};
    for (const Case& one : cases()) broken.insert(one.broken);
    for (const std::string_view name : invariant_names())
        EXPECT_TRUE(broken.contains(std::string(name))) << name;
}

TEST(Invariants, WhatIsExceptedMayBeBroken) {
    Changes world({"exclusive"}, false);
    world.job(R"({"status":{"conditions":[{"type":"Running","status":"True"},
        {"type":"Restarting","status":"True"}]}})");
    EXPECT_THAT(world.broken(), IsEmpty());
}

TEST(Invariants, AForgetfulOperatorMayCountWhatItStopped) {
    Changes world({}, true);
    world.pod("a", 0, kRunning);
    world.pod("a", 0, kGoing, "operator-1");
    world.job(told(1));
    EXPECT_THAT(world.broken(), IsEmpty());
    world.job(told(2));
    EXPECT_THAT(world.broken(), ElementsAre("restarts-most"));
}

TEST(Invariants, AJobBreaksARuleOnce) {
    Changes world;
    world.job(told(1));
    world.job(told(2));
    EXPECT_THAT(world.broken(), ElementsAre("restarts-most"));
}

}  // namespace
}  // namespace muster::sim::invariants_test
