#include "cli/internal/pods/container_choice.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace muster::cli::container_choice_test {
namespace {

using ::testing::HasSubstr;

ContainerView running(std::string name) {
    ContainerView view;
    view.name = std::move(name);
    view.running = true;
    return view;
}

ReachablePod replica(std::string type, int index, std::string phase = "Running") {
    ReachablePod made;
    made.pod.job = "digits";
    made.pod.index = index;
    made.pod.view.namespace_ = "ns";
    made.pod.view.name = "digits-" + type + "-" + std::to_string(index);
    made.pod.view.replica_type = type;
    made.pod.view.phase = std::move(phase);
    made.pod.view.scheduled = true;
    made.pod.view.containers = {running("pytorch")};
    return made;
}

std::vector<ReachablePod> job() {
    return {replica("worker", 1), replica("worker", 0), replica("master", 0)};
}

std::string chosen(std::vector<ReachablePod> pods, const ContainerChoice& choice) {
    const auto one = choose_container(std::move(pods), choice, "digits");
    return one ? one->pod + "/" + one->container : one.error().message();
}

TEST(ContainerChoice, ByReplicaByRankOrTheFirst) {
    EXPECT_EQ(chosen(job(), {}), "digits-master-0/pytorch");
    EXPECT_EQ(chosen(job(), {.replica = "worker-1"}), "digits-worker-1/pytorch");
    EXPECT_EQ(chosen(job(), {.replica = "Worker"}), "digits-worker-0/pytorch");
    EXPECT_EQ(chosen(job(), {.replica = "digits-worker-1"}), "digits-worker-1/pytorch");
    EXPECT_EQ(chosen(job(), {.rank = 2}), "digits-worker-1/pytorch");
    EXPECT_EQ(chosen(job(), {.replica = "ps"}),
              "digits has no replica \"ps\"; it has: master-0, worker-0, worker-1");
    EXPECT_EQ(chosen(job(), {.rank = 7}),
              "digits has no replica of rank 7; it has: master-0, worker-0, worker-1");
    EXPECT_THAT(chosen({}, {}), HasSubstr("has no pod"));
}

TEST(ContainerChoice, WhatHasEndedIsPassedOver) {
    auto pods = job();
    pods[2].pod.view.phase = "Succeeded";
    EXPECT_EQ(chosen(pods, {}), "digits-worker-0/pytorch");
    EXPECT_EQ(chosen(pods, {.replica = "master"}),
              "pod digits-master-0 has ended (Succeeded); 'muster logs' shows what it wrote");
}

TEST(ContainerChoice, SaysWhyNothingRuns) {
    auto pods = std::vector{replica("worker", 0, "Pending")};
    ContainerView& waits = pods[0].pod.view.containers[0];
    waits.running = false;
    waits.waiting_reason = "ImagePullBackOff";
    EXPECT_EQ(chosen(pods, {}), "pod digits-worker-0 has not started: ImagePullBackOff");
    waits.waiting_reason.clear();
    waits.restarts = 1;
    waits.terminated.emplace();
    waits.terminated->exit_code = 3;
    EXPECT_THAT(chosen(pods, {}), HasSubstr("does not run: it exited with code 3"));
}

TEST(ContainerChoice, OfSeveralContainers) {
    auto pods = std::vector{replica("master", 0)};
    PodView& view = pods[0].pod.view;
    ContainerView init = running("prepare");
    init.init = true;
    view.containers = {init, running("sidecar"), running("pytorch")};
    EXPECT_EQ(chosen(pods, {}), "digits-master-0/sidecar");
    view.containers[2].main = true;
    EXPECT_EQ(chosen(pods, {}), "digits-master-0/pytorch");
    pods[0].default_container = "sidecar";
    EXPECT_EQ(chosen(pods, {}), "digits-master-0/sidecar");
    EXPECT_EQ(chosen(pods, {.container = "prepare"}), "digits-master-0/prepare");
    EXPECT_EQ(chosen(pods, {.container = "x"}),
              "pod digits-master-0 has no container \"x\"; it has: prepare, sidecar, pytorch");
}

TEST(ContainerChoice, OneThatKubectlDebugAddedIsMeantOnlyByItsName) {
    auto pods = std::vector{replica("master", 0)};
    pods[0].pod.ephemeral = {running("shell")};
    EXPECT_EQ(chosen(pods, {}), "digits-master-0/pytorch");
    EXPECT_EQ(chosen(pods, {.container = "shell"}), "digits-master-0/shell");
    EXPECT_EQ(chosen(pods, {.container = "x"}),
              "pod digits-master-0 has no container \"x\"; it has: pytorch, shell");
}

TEST(ContainerChoice, SaysThatThereWereOthers) {
    const auto first = choose_container(job(), {}, "digits");
    EXPECT_EQ(first->note,
              "in pod digits-master-0, one of 3; digits/REPLICA or --rank N names another");
    EXPECT_EQ(choose_container(job(), {.replica = "master"}, "digits")->note, "");
    EXPECT_EQ(choose_container(job(), {.rank = 1}, "digits")->note, "");
    auto pods = std::vector{replica("master", 0)};
    pods[0].pod.view.containers.push_back(running("sidecar"));
    EXPECT_EQ(choose_container(pods, {}, "digits")->note, "in container pytorch; -c names another");
}

TEST(ContainerChoice, MalformedObjectsGiveEmptyFields) {
    for (const char* text : {"1", "{}", R"({"metadata":{"annotations":3}})"})
        EXPECT_EQ(reachable_pod(json::parse(text)).default_container, "");
}

}  // namespace
}  // namespace muster::cli::container_choice_test
