#include "runtime/internal/usage/usage_sample.h"

#include <gtest/gtest.h>

namespace muster::runtime::usage_sample_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

UsageSample sample(Duration at, Duration busy, std::vector<UsageSample::Container> containers) {
    return {.at = Instant(at),
            .wall = WallTime(at),
            .busy = busy,
            .memory_in_use = 1000,
            .containers = std::move(containers)};
}

UsageSample::Container container(std::string pod, std::uint32_t run, Duration cpu) {
    return {.namespace_ = "ns",
            .pod = pod,
            .uid = "uid-" + pod,
            .name = "main",
            .run = run,
            .cpu = cpu,
            .memory_bytes = 77};
}

TEST(UsageSampleTest, AnAverageBeginsNeitherTooLateNorTooEarly) {
    const UsageSample from = sample(seconds(100), {}, {});
    for (const auto& [after, good] : {std::pair<Duration, bool>{seconds(0), false},
                                      {milliseconds(999), false},
                                      {seconds(1), true},
                                      {seconds(60), true},
                                      {seconds(61), false}})
        EXPECT_EQ(is_good_start(from, Instant(seconds(100)) + after), good) << after.count();
}

TEST(UsageSampleTest, WhatWasUsedBetweenTwoSamples) {
    const UsageSample from =
        sample(seconds(10), seconds(100),
               {container("old", 1, seconds(5)), container("again", 1, seconds(9)),
                container("gone", 1, seconds(9))});
    const UsageSample to =
        sample(seconds(12), seconds(103),
               {container("old", 1, seconds(6)), container("again", 2, milliseconds(500)),
                container("new", 1, seconds(2))});
    const kube::NodeUsage usage = usage_between(from, to, "n");
    EXPECT_EQ(usage.node, "n");
    EXPECT_EQ(usage.window, Duration(seconds(2)));
    EXPECT_EQ(usage.machine, (kube::Usage{.cpu_nanos = 1'500'000'000, .memory_bytes = 1000}));
    ASSERT_EQ(usage.pods.size(), 3u);
    const auto cpu_of = [&](std::size_t pod) {
        return usage.pods[pod].containers.at(0).usage.cpu_nanos;
    };
    EXPECT_EQ(usage.pods[0].name, "old");
    EXPECT_EQ(cpu_of(0), 500'000'000);
    EXPECT_EQ(cpu_of(1), 250'000'000) << "another run began anew";
    EXPECT_EQ(cpu_of(2), 1'000'000'000) << "it began meanwhile";
    EXPECT_EQ(usage.pods[0].containers[0].usage.memory_bytes, 77);
}

TEST(UsageSampleTest, ContainersOfOnePodAreTogetherAndNothingIsNegative) {
    UsageSample::Container side = container("p", 2, seconds(1));
    side.name = "side";
    const UsageSample from = sample(seconds(1), seconds(9), {container("p", 1, seconds(5))});
    const kube::NodeUsage usage = usage_between(
        from, sample(seconds(2), seconds(8), {container("p", 1, seconds(4)), side}), "n");
    EXPECT_EQ(usage.machine.cpu_nanos, 0);
    ASSERT_EQ(usage.pods.size(), 1u);
    ASSERT_EQ(usage.pods[0].containers.size(), 2u);
    EXPECT_EQ(usage.pods[0].containers[0].usage.cpu_nanos, 0);
    EXPECT_EQ(usage.pods[0].containers[1].name, "side");
}

}  // namespace
}  // namespace muster::runtime::usage_sample_test
