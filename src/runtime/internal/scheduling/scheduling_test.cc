#include "runtime/internal/scheduling/scheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace muster::runtime::scheduling_test {
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

std::vector<Placement> schedule(const std::vector<SchedulingPod>& pods,
                                const SchedulingNode& node) {
    std::vector<const SchedulingPod*> pointers;
    for (const SchedulingPod& each : pods) pointers.push_back(&each);
    return runtime::schedule(std::span<const SchedulingPod* const>(pointers), node);
}

/// "ns/a0 ns/a1" of those that are bound.
std::string placed(const std::vector<Placement>& placements) {
    std::vector<std::string> keys;
    for (const Placement& placement : placements)
        if (placement.bind) keys.push_back(placement.key);
    std::ranges::sort(keys);
    return fmt::format("{}", fmt::join(keys, " "));
}

SchedulingPod member(std::string key, std::string job, std::int64_t milli_cpu, std::size_t size) {
    SchedulingPod made = pod(std::move(key), job, milli_cpu);
    made.gang = "gang-" + job;
    made.gang_size = size;
    return made;
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
    EXPECT_THAT(placements.at(0).message,
                HasSubstr("'muster run --ignore-resources nvidia.com/gpu'"));
}

TEST(Schedule, ACordonedNodeKeepsWhatItHasAndTakesNothing) {
    SchedulingNode cordoned = node(3);
    cordoned.unschedulable = true;
    auto placements = schedule(
        {pod("ns/p0", "a", 1000, true), pod("ns/p1", "b", 1000), member("ns/g2", "gang", 1, 2)},
        cordoned);
    EXPECT_EQ(bound(placements), (std::vector{false, false}));
    EXPECT_THAT(placements[0].message, HasSubstr("kubectl uncordon"));
    EXPECT_EQ(placements[1].message, "") << "its gang is not complete";
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

TEST(ScheduleGangs, AllOrNothing) {
    struct Case {
        const char* what;
        std::vector<SchedulingPod> pods;
        int cpus;
        const char* placed;
    };
    auto admitted = [](SchedulingPod made) {
        made.admitted = true;
        return made;
    };
    const Case cases[] = {
        {"all fit",
         {member("ns/a0", "a", 1000, 2), member("ns/a1", "a", 1000, 2)},
         2,
         "ns/a0 ns/a1"},
        {"one does not", {member("ns/a0", "a", 1000, 2), member("ns/a1", "a", 2000, 2)}, 2, ""},
        {"not all are there yet", {member("ns/a0", "a", 1000, 2)}, 2, ""},
        {"what runs counts",
         {pod("ns/x9", "x", 1000, true), member("ns/a0", "a", 1000, 2),
          member("ns/a1", "a", 1000, 2)},
         2,
         ""},
        {"two gangs that each half fit",
         {member("ns/a0", "a", 1000, 2), member("ns/b1", "b", 1000, 2),
          member("ns/a2", "a", 1000, 2), member("ns/b3", "b", 1000, 2)},
         3,
         "ns/a0 ns/a2"},
        {"fewer are enough, and more come along",
         {member("ns/a0", "a", 1000, 2), member("ns/a1", "a", 1000, 2),
          member("ns/a2", "a", 1000, 2), member("ns/a3", "a", 1000, 2)},
         3,
         "ns/a0 ns/a1 ns/a2"},
        {"one that was restarted needs no company",
         {admitted(member("ns/a0", "a", 1000, 4))},
         2,
         "ns/a0"},
        {"and goes before what is older",
         {member("ns/b0", "b", 1000, 2), member("ns/b1", "b", 1000, 2),
          admitted(member("ns/a2", "a", 1000, 4))},
         2,
         "ns/a2"},
    };
    for (const Case& c : cases)
        EXPECT_EQ(placed(schedule(c.pods, node(c.cpus))), c.placed) << c.what;
}

TEST(ScheduleGangs, WhatWaitsSaysForWhat) {
    auto placements =
        schedule({pod("ns/x9", "x", 500, true), member("ns/d-master-0", "PyTorchJob d", 1000, 4),
                  member("ns/d-worker-1", "PyTorchJob d", 1000, 4),
                  member("ns/d-worker-2", "PyTorchJob d", 1000, 4),
                  member("ns/d-worker-3", "PyTorchJob d", 2000, 4)},
                 node(5));
    ASSERT_EQ(placements.size(), 4u);
    for (const Placement& placement : placements)
        EXPECT_EQ(placement.message,
                  "0/1 nodes are available: 1 Insufficient cpu: 3 of 4 pods of PyTorchJob d fit: "
                  "d-worker-3 asks for 2, and 1500m of 5 are free. They start together: all wait "
                  "until enough running pods end");
    placements = schedule(
        {member("ns/d0", "PyTorchJob d", 3000, 2), member("ns/d1", "PyTorchJob d", 3000, 2)},
        node(5));
    EXPECT_EQ(placements.at(0).message,
              "0/1 nodes are available: 1 Insufficient cpu: the 2 pods of PyTorchJob d that start "
              "together ask for 6 and this machine has 5 in all. They can never run here together: "
              "lower their requests or replicas, or say with "
              "runPolicy.schedulingPolicy.minAvailable how many are enough to start");
    placements = schedule({member("ns/d0", "PyTorchJob d", 1, 2)}, node(5));
    EXPECT_EQ(placements.at(0), (Placement{"ns/d0", false, ""})) << "the other is on its way";
}

TEST(ScheduleGangs, AYoungerOneMayPassOnlyWhereItTakesNothingThatTheOlderNeeds) {
    struct Case {
        const char* what;
        std::vector<SchedulingPod> pods;
        const char* placed;
    };
    // Four CPUs, of which two are taken by what is oldest.
    const SchedulingPod runs = pod("ns/x0", "x", 2000, true);
    const SchedulingPod gang1 = member("ns/a1", "a", 1500, 2);
    const SchedulingPod gang2 = member("ns/a2", "a", 1500, 2);
    SchedulingPod passed = pod("ns/y3", "y", 1000, true);
    const Case cases[] = {
        {"beside it", {runs, gang1, gang2, pod("ns/z4", "z", 1000)}, "ns/z4"},
        {"not in its place", {runs, gang1, gang2, pod("ns/z4", "z", 1500)}, ""},
        {"with those that passed before",
         {runs, gang1, gang2, passed, pod("ns/z4", "z", 1000)},
         ""},
        {"what can never run holds nobody up",
         {runs, member("ns/a1", "a", 9000, 2), member("ns/a2", "a", 9000, 2),
          pod("ns/z4", "z", 2000)},
         "ns/z4"},
    };
    for (const Case& c : cases) EXPECT_EQ(placed(schedule(c.pods, node(4))), c.placed) << c.what;
    auto placements = schedule({runs, gang1, gang2, pod("ns/z4", "z", 1500)}, node(4));
    EXPECT_EQ(placements.back().message,
              "0/1 nodes are available: 1 Insufficient cpu: a came first and waits for 3 of 4. It "
              "waits until that has started");
}

}  // namespace
}  // namespace muster::runtime::scheduling_test
