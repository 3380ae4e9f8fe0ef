#include "runtime/internal/limits/cgroup_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::runtime::cgroup_limits_test {
namespace {

using ::testing::ElementsAre;

kube::Container container(kube::ResourceList limits, kube::ResourceList requests = {}) {
    kube::Container made;
    made.resources.limits = std::move(limits);
    made.resources.requests = std::move(requests);
    return made;
}

/// "cpu.shares=512", in the order in which they are written.
std::vector<std::string> lines(const std::vector<CgroupSetting>& settings) {
    std::vector<std::string> text;
    for (const CgroupSetting& setting : settings)
        text.push_back(fmt::format("{}={}", setting.file, setting.value));
    return text;
}

TEST(CgroupLimits, WhatAContainerIsLimitedTo) {
    struct Case {
        kube::ResourceList limits;
        kube::ResourceList requests;
        ContainerLimits expected;
    };
    const Case cases[] = {
        {{}, {}, {}},
        {{{"memory", "50Mi"}}, {}, {.memory_bytes = 50 << 20, .cpu_milli = {}}},
        {{{"cpu", "250m"}}, {}, {.memory_bytes = {}, .cpu_milli = 250, .cpu_request_milli = 250}},
        {{{"cpu", 2}},
         {{"cpu", "0.5"}},
         {.memory_bytes = {}, .cpu_milli = 2000, .cpu_request_milli = 500}},
        {{},
         {{"cpu", "1"}, {"memory", "1Gi"}},
         {.memory_bytes = {}, .cpu_milli = {}, .cpu_request_milli = 1000}},
        {{{"cpu", "0"}, {"memory", "0"}}, {}, {}},
    };
    for (const Case& c : cases) {
        const auto limits = limits_of(container(c.limits, c.requests));
        ASSERT_TRUE(limits) << limits.error().message();
        EXPECT_EQ(*limits, c.expected);
    }
    EXPECT_FALSE(limits_of(container({{"memory", "much"}})));
}

TEST(CgroupLimits, TheFilesOfAContainer) {
    const ContainerLimits all{.memory_bytes = 1048576, .cpu_milli = 1500, .cpu_request_milli = 500};
    EXPECT_THAT(
        lines(container_settings(all, CgroupVersion::kV1)),
        ElementsAre("memory.limit_in_bytes=1048576", "memory.memsw.limit_in_bytes=1048576",
                    "cpu.cfs_period_us=100000", "cpu.cfs_quota_us=150000", "cpu.shares=512"));
    EXPECT_THAT(lines(container_settings(all, CgroupVersion::kV2)),
                ElementsAre("memory.max=1048576", "memory.swap.max=0", "memory.oom.group=1",
                            "cpu.max=150000 100000", "cpu.weight=20"));
}

TEST(CgroupLimits, WhatAsksForNothingHasItsTurnLikeAnyProgramOfTheMachine) {
    for (const CgroupVersion version : {CgroupVersion::kV1, CgroupVersion::kV2}) {
        EXPECT_THAT(lines(container_settings({}, version)), ElementsAre());
        EXPECT_THAT(lines(pod_settings(0, 8192, version)), ElementsAre("pids.max=8192"));
    }
}

TEST(CgroupLimits, TheEndsOfWhatTheKernelTakes) {
    struct Case {
        std::int64_t milli;
        const char* quota;
        const char* shares;
        const char* weight;
    };
    const Case cases[] = {
        {1, "1000", "2", "1"},
        {10, "1000", "10", "1"},
        {1000, "100000", "1024", "39"},
        {1'000'000, "100000000", "262144", "10000"},
    };
    for (const Case& c : cases) {
        const ContainerLimits limits{
            .memory_bytes = {}, .cpu_milli = c.milli, .cpu_request_milli = c.milli};
        const auto v1 = container_settings(limits, CgroupVersion::kV1);
        EXPECT_EQ(v1[1].value, c.quota) << c.milli;
        EXPECT_EQ(v1[2].value, c.shares) << c.milli;
        EXPECT_EQ(container_settings(limits, CgroupVersion::kV2)[1].value, c.weight) << c.milli;
    }
}

TEST(CgroupLimits, SwapMayBeMissingAndTheLimitMayNot) {
    for (const CgroupSetting& setting :
         container_settings({.memory_bytes = 1, .cpu_milli = 1}, CgroupVersion::kV1))
        EXPECT_EQ(setting.required, setting.file != "memory.memsw.limit_in_bytes");
}

TEST(CgroupLimits, APodHasAQuarterOfTheProcessesAndAllOfThemSevenEighths) {
    EXPECT_EQ(default_pid_limits(32768, 192730).pod, 8192);
    EXPECT_EQ(default_pid_limits(32768, 192730).node, 28672);
    EXPECT_EQ(default_pid_limits(4194304, 30000).pod, 7500);
    EXPECT_EQ(default_pid_limits(100, 100).pod, 256);
    EXPECT_THAT(lines(pod_settings(1000, 8192, CgroupVersion::kV1)),
                ElementsAre("cpu.shares=1024", "pids.max=8192"));
}

}  // namespace
}  // namespace muster::runtime::cgroup_limits_test
