#include "sim/internal/elastic_pods.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/test_loop.h"

namespace muster::sim::elastic_pods_test {
namespace {

using namespace std::chrono_literals;

/// In reality such a pod ends with 2, and no other rule would see that.
TEST(ElasticPods, WhatMusterRunWouldRefuseBreaksARule) {
    SimulatedLoop loop;
    Ledger ledger(loop.clock);
    ElasticPods pods(loop.context.get_executor(), loop.clock, ledger,
                     {.training = {.work = {1min, 1min}}});
    const FaultWindows machine;
    const json::value pod = json::parse(
        R"({"metadata":{"name":"demo-worker-0","namespace":"default"},
            "spec":{"containers":[{"command":["muster-run","--nnodes","3:2","train.py"]}]}})");
    EXPECT_EQ(pods.start(pod, {.node = 0, .address = "10.0.0.1", .faults = machine}, {}), nullptr);
    ASSERT_EQ(ledger.violations().size(), 1U);
    EXPECT_EQ(ledger.violations().front().invariant, "accepted");
    EXPECT_NE(ledger.violations().front().what.find("default/demo-worker-0: "), std::string::npos);
}

}  // namespace
}  // namespace muster::sim::elastic_pods_test
