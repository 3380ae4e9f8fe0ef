#include "control_plane/internal/loop_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/time/sim_clock.h"

namespace muster::control_plane::loop_metrics_test {
namespace {

using std::chrono::milliseconds;

/// Of the metric with this name, and with this value of its label if it has one.
double value_of(const std::vector<prometheus::MetricFamily>& all, std::string_view name,
                std::string_view label = {}) {
    const auto found = std::ranges::find(all, name, &prometheus::MetricFamily::name);
    if (found == all.end()) return -1;
    for (const prometheus::ClientMetric& metric : found->metric)
        if (label.empty() || metric.label.at(0).value == label)
            return found->type == prometheus::MetricType::Counter ? metric.counter.value
                                                                  : metric.gauge.value;
    return -1;
}

TEST(LoopMetrics, TellWhatHandlersComputedAndHowLongTheyTook) {
    const SimClock clock;
    LoopWatch loop(clock);
    loop.add({.passed = milliseconds(75), .computed = milliseconds(2)});
    loop.add({.passed = milliseconds(60), .computed = milliseconds(55)});
    const auto all = loop_metrics(loop);
    EXPECT_EQ(value_of(all, "muster_event_loop_longest_hold_seconds"), 0.055);
    EXPECT_EQ(value_of(all, "muster_event_loop_long_holds_total"), 1);
    EXPECT_EQ(value_of(all, "muster_event_loop_longest_turn_seconds"), 0.075);
    EXPECT_EQ(value_of(all, "muster_event_loop_long_turns_total"), 2);
}

TEST(LoopMetrics, TellWhatWasComputedBesideIt) {
    const SimClock clock;
    SideWatch side(clock);
    side.add({.name = "parse",
              .work = {},
              .waited = milliseconds(20),
              .took = {.passed = milliseconds(9), .computed = milliseconds(8)}});
    side.add({.name = "parse",
              .work = {},
              .waited = milliseconds(30),
              .took = {.passed = milliseconds(4), .computed = milliseconds(2)}});
    const auto all = side_metrics(side);
    EXPECT_EQ(value_of(all, "muster_side_thread_computations_total", "parse"), 2);
    EXPECT_EQ(value_of(all, "muster_side_thread_cpu_seconds_total", "parse"), 0.010);
    EXPECT_EQ(value_of(all, "muster_side_thread_longest_seconds", "parse"), 0.008);
    EXPECT_EQ(value_of(all, "muster_side_thread_wait_seconds_total"), 0.050);
    EXPECT_EQ(value_of(all, "muster_side_thread_longest_wait_seconds"), 0.030);
}

}  // namespace
}  // namespace muster::control_plane::loop_metrics_test
