#include "runtime/internal/scheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

SchedulingPod pod(std::string key, std::string job, std::int64_t milli_cpu, bool bound = false) {
    SchedulingPod made;
    made.created = "2026-01-01T00:00:0" + key.substr(key.size() - 1) + "Z";
    made.key = std::move(key);
    made.job_uid = "uid-" + job;
    made.job = std::move(job);
    made.requests["cpu"] = kube::Quantity::from_milli(milli_cpu);
    made.bound = bound;
    return made;
}

SchedulingNode node(int cpus) {
    return {.allocatable = {{"cpu", kube::Quantity::from_units(cpus)},
                            {"memory", kube::Quantity::from_units(1 << 30)}},
            .shared_network = false};
}

std::vector<bool> bound(const std::vector<Placement>& placements) {
    std::vector<bool> result;
    for (const Placement& placement : placements) result.push_back(placement.bind);
    return result;
}

TEST(Schedule, OldestFirstAsFarAsTheyFit) {
    auto placements = schedule(
        {pod("ns/p3", "a", 1000), pod("ns/p1", "a", 1500), pod("ns/p2", "a", 1500)}, node(3));
    ASSERT_EQ(placements.size(), 3u);
    EXPECT_EQ(placements[0].key, "ns/p1");
    EXPECT_EQ(bound(placements), (std::vector{true, true, false}));
    EXPECT_THAT(placements[2].message, AllOf(HasSubstr("Insufficient cpu"), HasSubstr("asks for 1"),
                                             HasSubstr("3 of 3 are taken"), HasSubstr("waits")));
}

TEST(Schedule, WhatRunsCountsAndWhatNeverFitsSaysSo) {
    auto placements = schedule({pod("ns/p0", "a", 2000, true), pod("ns/p1", "b", 1500),
                                pod("ns/p2", "b", 4000), pod("ns/p3", "b", 1000)},
                               node(3));
    EXPECT_EQ(bound(placements), (std::vector{false, false, true}));
    EXPECT_THAT(placements[1].message,
                AllOf(HasSubstr("asks for 4"), HasSubstr("has 3 in all"), HasSubstr("never")));
}

TEST(Schedule, ADeviceThatIsNotHereNamesTheFlag) {
    SchedulingPod wants = pod("ns/p1", "a", 1);
    wants.requests["nvidia.com/gpu"] = kube::Quantity::from_units(1);
    auto placements = schedule({wants}, node(3));
    EXPECT_THAT(placements.at(0).message, HasSubstr("--ignore-resources nvidia.com/gpu"));
}

TEST(Schedule, OnASharedNetworkOneJobAtATimeUsesAPort) {
    std::vector<SchedulingPod> pods{pod("ns/a0", "PyTorchJob a", 1),
                                    pod("ns/a1", "PyTorchJob a", 1),
                                    pod("ns/b2", "PyTorchJob b", 1), pod("ns/c3", "TFJob c", 1)};
    for (SchedulingPod& each : pods) each.ports = {23456};
    pods[3].ports = {2222};
    SchedulingNode shared = node(3);
    EXPECT_EQ(bound(schedule(pods, shared)), (std::vector{true, true, true, true}));
    shared.shared_network = true;
    auto placements = schedule(pods, shared);
    EXPECT_EQ(bound(placements), (std::vector{true, true, false, true}));
    EXPECT_THAT(placements[2].message, AllOf(HasSubstr("port 23456 is used by PyTorchJob a"),
                                             HasSubstr("ns/a0"), HasSubstr("as root")));
}

TEST(RequestsOf, SumOfContainersOrTheLargestInitContainer) {
    kube::PodSpec spec;
    spec.containers.resize(2);
    spec.containers[0].resources.requests["cpu"] = "500m";
    spec.containers[1].resources.limits["cpu"] = 1;
    spec.init_containers.resize(2);
    spec.init_containers[0].resources.requests["cpu"] = 1;
    spec.init_containers[1].resources.requests["memory"] = "1Gi";
    auto requests = requests_of(spec);
    EXPECT_EQ(requests["cpu"].ceil_milli(), 1500);
    EXPECT_EQ(requests["memory"].ceil_units(), 1 << 30);
}

}  // namespace
}  // namespace muster::runtime
