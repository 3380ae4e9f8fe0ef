#include "control_plane/process_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::control_plane::process_metrics_test {
namespace {

TEST(ProcessMetrics, ALineIsReadWhateverTheNameOfTheProgramIs) {
    const auto stat = parse_process_stat(
        "12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 100 20 13 14 15 16 17 18 5000 70000 30 99 100\n");
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->cpu_ticks, 120U);
    EXPECT_EQ(stat->start_ticks, 5000U);
    EXPECT_EQ(stat->virtual_bytes, 70000U);
    EXPECT_EQ(stat->resident_pages, 30U);
}

TEST(ProcessMetrics, WhatIsNoSuchLineIsNotRead) {
    for (const char* line : {"", "12 (a", "12 (a) S 1 2 3", "12 (a) S 1 2 3 4 5 6 7 8 9 10 x y"})
        EXPECT_FALSE(parse_process_stat(line)) << line;
}

TEST(ProcessMetrics, ThisProcessIsDescribed) {
    const auto value = [](std::string_view name) {
        const auto all = process_metrics();
        const auto found = std::ranges::find(all, name, &prometheus::MetricFamily::name);
        return found == all.end() ? -1 : found->metric.at(0).gauge.value;
    };
    EXPECT_GT(value("process_resident_memory_bytes"), 1e6);
    EXPECT_GT(value("process_start_time_seconds"), 1.6e9);
    EXPECT_GE(value("process_open_fds"), 3);
    EXPECT_GE(value("process_max_fds"), value("process_open_fds"));
    EXPECT_GE(value("process_cpu_seconds_total"), 0);
}

}  // namespace
}  // namespace muster::control_plane::process_metrics_test
