#include "cli/internal/logs/log_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::cli::log_sources_test {
namespace {

using testing::HasSubstr;

/// A running pod of the job "digits".
LogPod pod(const std::string& type, int index, const std::string& rank = "") {
    return log_pod(json::parse(fmt::format(
        R"({{"metadata":{{"name":"digits-{0}-{1}","namespace":"ml","uid":"u-{0}-{1}","labels":{{
             "training.kubeflow.org/job-name":"digits","training.kubeflow.org/replica-type":"{0}",
             "training.kubeflow.org/replica-index":"{1}"}}}},
           "spec":{{"containers":[{{"name":"main","env":[{{"name":"RANK","value":"{2}"}}]}}]}},
           "status":{{"phase":"Running",
             "initContainerStatuses":[{{"name":"init","restartCount":0,
               "state":{{"terminated":{{"exitCode":0}}}}}}],
             "containerStatuses":[{{"name":"main","restartCount":0,"state":{{"running":{{}}}}}},
               {{"name":"side","restartCount":0,"state":{{"waiting":{{}}}}}}]}}}})",
        type, index, rank)));
}

std::string chosen(const std::vector<LogPod>& pods, const LogChoice& choice) {
    std::string text;
    for (const LogSource& source : choose_sources(pods, choice))
        text += fmt::format("{}/{}:{} ", source.pod.substr(7), source.container, source.started);
    return text;
}

TEST(LogSources, AreInTheOrderOfTheReplicas) {
    const std::vector<LogPod> pods{pod("worker", 10), pod("worker", 2), pod("master", 0)};
    EXPECT_EQ(pods[0].job, "digits");
    EXPECT_EQ(chosen(pods, {}),
              "master-0/main:1 master-0/side:0 worker-2/main:1 worker-2/side:0 worker-10/main:1 "
              "worker-10/side:0 ");
}

TEST(LogSources, AreChosenByRankReplicaAndContainer) {
    const std::vector<LogPod> told{pod("master", 0, "0"), pod("worker", 0, "1"),
                                   pod("worker", 1, "2")};
    const std::vector<LogPod> untold{pod("worker", 1), pod("worker", 0), pod("master", 0)};
    for (const std::vector<LogPod>& pods : {told, untold}) {
        EXPECT_EQ(chosen(pods, {.rank = 2, .replica = {}, .container = "main"}),
                  "worker-1/main:1 ");
        EXPECT_EQ(chosen(pods, {.rank = 0, .replica = {}, .container = "init"}),
                  "master-0/init:1 ");
        EXPECT_EQ(chosen(pods, {.rank = {}, .replica = "Worker", .container = "main"}),
                  "worker-0/main:1 worker-1/main:1 ");
        EXPECT_EQ(chosen(pods, {.rank = 3, .replica = {}, .container = {}}), "");
        EXPECT_EQ(chosen(pods, {.rank = 0, .replica = "worker", .container = {}}), "");
    }
}

TEST(LogSources, OneThatKubectlDebugAddedIsFoundByItsName) {
    const LogPod debugged = log_pod(json::parse(R"({"metadata":{"name":"digits-p","uid":"u"},
        "status":{"containerStatuses":[{"name":"main","state":{"running":{}}}],
                  "ephemeralContainerStatuses":[{"name":"look","restartCount":0,
                    "state":{"terminated":{"exitCode":0}}}, 3]}})"));
    const auto named = [](const char* container) {
        return LogChoice{.rank = {}, .replica = {}, .container = container};
    };
    EXPECT_EQ(chosen({debugged}, {}), "p/main:1 ");
    EXPECT_EQ(chosen({debugged}, named("look")), "p/look:1 ");
    EXPECT_EQ(nothing_chosen({debugged}, named("x")),
              "there is no container x; there are: look, main");
}

TEST(LogSources, InstancesAreThoseThatHaveBegun) {
    const auto with = [](const char* status) {
        return choose_sources({log_pod(json::parse(fmt::format(
                                  R"({{"status":{{"containerStatuses":[{}]}}}})", status)))},
                              {})
            .at(0)
            .started;
    };
    EXPECT_EQ(with(R"({"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}})"), 0);
    EXPECT_EQ(with(R"({"name":"a","restartCount":2,"state":{"running":{}},
                       "lastState":{"terminated":{"exitCode":1}}})"),
              3);
    EXPECT_EQ(with(R"({"name":"a","restartCount":2,"state":{"waiting":{"reason":"Back-off"}},
                       "lastState":{"terminated":{"exitCode":1}}})"),
              3);
    EXPECT_EQ(with(R"({"name":"a","restartCount":1,"state":{"terminated":{"exitCode":1}}})"), 2);
}

TEST(LogSources, WhyNothingIsChosen) {
    const std::vector<LogPod> pods{pod("master", 0)};
    EXPECT_THAT(nothing_chosen({}, {}), HasSubstr("it has no pods"));
    EXPECT_THAT(nothing_chosen(pods, {.rank = {}, .replica = "ps", .container = {}}),
                HasSubstr("type ps; there are: master"));
    EXPECT_THAT(nothing_chosen(pods, {.rank = 7, .replica = {}, .container = {}}),
                HasSubstr("rank 7; there is 1 pod"));
    EXPECT_THAT(nothing_chosen(pods, {.rank = {}, .replica = {}, .container = "x"}),
                HasSubstr("container x; there are: init, main, side"));
}

TEST(LogSources, WhyNoneHasStarted) {
    const auto why = [](std::string_view spec, std::string_view status) {
        return why_none_started(
            {log_pod(json::parse(
                fmt::format(R"({{"metadata":{{"name":"p","uid":"u"}},"spec":{},"status":{}}})",
                            spec, status)))},
            {});
    };
    EXPECT_EQ(why("{}", R"({"conditions":[{"type":"PodScheduled","status":"False","reason":
        "Unschedulable","message":"too big"}],"containerStatuses":[{"name":"c"}]})"),
              "pod p has not started: Unschedulable: too big");
    constexpr std::string_view kBound = R"({"nodeName":"n"})";
    EXPECT_EQ(why(kBound, R"({"containerStatuses":[{"name":"c","state":{"waiting":
        {"reason":"CreateContainerConfigError","message":"no secret"}}}]})"),
              "pod p has not started: CreateContainerConfigError: no secret");
    EXPECT_EQ(why(kBound, R"({"containerStatuses":[{"name":"c","restartCount":2,"state":{"waiting":
        {"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":128,"reason":
        "StartError","message":"no such program"}}}]})"),
              "pod p has not started: no such program");
    EXPECT_EQ(why(kBound, R"({"initContainerStatuses":[{"name":"i","state":{"terminated":
        {"exitCode":3}}}],"containerStatuses":[{"name":"c","state":{"waiting":
        {"reason":"PodInitializing"}}}]})"),
              "pod p has not started: its init container i exited with code 3");
    constexpr std::string_view kBeside =
        R"({"nodeName":"n","initContainers":[{"name":"s","restartPolicy":"Always"}]})";
    EXPECT_EQ(why(kBeside, R"({"initContainerStatuses":[{"name":"s","restartCount":1,"state":
        {"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":3}}}],
        "containerStatuses":[{"name":"c","state":{"waiting":{"reason":"PodInitializing"}}}]})"),
              "pod p has not started: its sidecar s exited with code 3");
    EXPECT_EQ(why(kBeside, R"({"initContainerStatuses":[{"name":"s","restartCount":1,"state":
        {"running":{}},"lastState":{"terminated":{"exitCode":3}}}],"containerStatuses":
        [{"name":"c","state":{"waiting":{"reason":"ContainerCreating"}}}]})"),
              "pod p has not started: ContainerCreating");
    EXPECT_EQ(why(kBound, R"({"containerStatuses":[{"name":"c","state":{"terminated":
        {"exitCode":0}}}]})"),
              "")
        << "it was silent";
}

}  // namespace
}  // namespace muster::cli::log_sources_test
