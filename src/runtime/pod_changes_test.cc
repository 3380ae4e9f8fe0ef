#include "runtime/pod_changes.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "kube/objects/codec_impl.h"
#include "kube/objects/pod_contract.h"

namespace muster::runtime::pod_changes_test {
namespace {

using ::testing::ElementsAre;

kube::Pod pod_of(const char* container) {
    kube::Pod pod;
    pod.spec.containers = {*kube::decode<kube::Container>(json::parse(container))};
    return pod;
}

TEST(PodChanges, NothingChangesWithoutThem) {
    EXPECT_TRUE(PodChanges().empty());
    kube::Pod pod = pod_of(R"({"name":"a","image":"x","args":["--y"]})");
    apply({}, {}, pod);
    EXPECT_TRUE(pod.spec.containers[0].command.empty());
}

TEST(PodChanges, WhatEveryContainerGets) {
    PodChanges changes{.env = {{"A", "1"}, {"B", "2"}},
                       .working_dir = "/w",
                       .ignored_resources = {"nvidia.com/gpu"}};
    changes.entrypoints.add("x", {"train", "-v"});
    EXPECT_FALSE(changes.empty());
    kube::Pod pod = pod_of(
        R"({"name":"a","image":"x:1","args":["--y"],"workingDir":"/z","env":[{"name":"B","value":"0"}],
            "resources":{"limits":{"nvidia.com/gpu":1,"cpu":1},"requests":{"nvidia.com/gpu":1}}})");
    pod.spec.init_containers = pod.spec.containers;
    pod.spec.init_containers[0].command = {"own"};
    apply(changes, {}, pod);
    const kube::Container& main = pod.spec.containers[0];
    EXPECT_THAT(main.command, ElementsAre("train", "-v"));
    EXPECT_THAT(main.args, ElementsAre("--y"));
    EXPECT_EQ(main.working_dir, "/w");
    ASSERT_EQ(main.env.size(), 2u);
    EXPECT_EQ(main.env[0].value, "2");
    EXPECT_EQ(main.env[1].name, "A");
    EXPECT_EQ(main.resources.limits.size(), 1u);
    EXPECT_TRUE(main.resources.requests.empty());
    EXPECT_THAT(pod.spec.init_containers[0].command, ElementsAre("own"));
}

TEST(PodChanges, EphemeralContainersGetTheSame) {
    PodChanges changes{.env = {{"A", "1"}}};
    changes.entrypoints.add("busybox", {"ash"});
    kube::Pod pod = pod_of(R"({"name":"a"})");
    pod.spec.rest["ephemeralContainers"] = json::array{
        json::object{{"name", "d"}, {"image", "busybox"}, {"targetContainerName", "a"}}};
    apply(changes, {}, pod);
    EXPECT_EQ(pod.spec.rest.at("ephemeralContainers").at(0), json::parse(R"({"name":"d",
        "image":"busybox","targetContainerName":"a","command":["ash"],
        "env":[{"name":"A","value":"1"}]})"));
}

TEST(PodChanges, RequestsFitTheShareOfThePod) {
    const PodChanges changes{.scales_requests = true};
    const kube::Amounts capacity{{"cpu", kube::Quantity::from_units(4)},
                                 {"memory", kube::Quantity::from_units(8000)}};
    kube::Pod pod =
        pod_of(R"({"name":"a","resources":{"limits":{"memory":16000},"requests":{"cpu":"8"}}})");
    apply(changes, capacity, pod);
    EXPECT_EQ(pod.spec.containers[0].resources.requests.at("cpu"), json::value("4"));
    EXPECT_EQ(pod.spec.containers[0].resources.requests.at("memory"), json::value("8k"));
    EXPECT_EQ(pod.spec.containers[0].resources.limits.at("memory"), json::value(16000));

    pod.metadata.annotations[std::string(kube::kGangSizeAnnotation)] = "4";
    apply(changes, capacity, pod);
    EXPECT_EQ(pod.spec.containers[0].resources.requests.at("cpu"), json::value("1"));
    EXPECT_EQ(pod.spec.containers[0].resources.requests.at("memory"), json::value("2k"));
    // What fits stays.
    apply(changes, capacity, pod);
    EXPECT_EQ(pod.spec.containers[0].resources.requests.at("cpu"), json::value("1"));
}

}  // namespace
}  // namespace muster::runtime::pod_changes_test
