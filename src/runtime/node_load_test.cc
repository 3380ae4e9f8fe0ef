#include <gmock/gmock.h>

#include <algorithm>

#include "runtime/internal/node_fixture.h"

// What takes seconds: many pods, much output, usage over a time.

namespace muster::runtime::node_load_test {
namespace {

class NodeLoadTest : public NodeTest {};

TEST_P(NodeLoadTest, AHugeLineDoesNotGrowMemoryAndATailIsQuick) {
    options.log_limits.bytes = std::uint64_t{100} << 20;
    start_node();
    create(pod_json("big", shell("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last")));
    wait_phase("big", "Succeeded");
    kube::LogOptions tail;
    tail.tail_lines = 1;
    EXPECT_EQ(logs("big", tail), "last\n");
    tail.tail_lines = 2;
    EXPECT_EQ(logs("big", tail).size(), 50'000'000 + 1 + 5);
}

TEST_P(NodeLoadTest, SixtyFourPods) {
    options.cpus = 64;
    start_node();
    for (int i = 0; i < 64; ++i) create(pod_json(fmt::format("p{}", i), shell("exec sleep 1000")));
    for (int i = 0; i < 64; ++i) wait_phase(fmt::format("p{}", i), "Running");
    for (int i = 0; i < 64; ++i) remove(fmt::format("p{}", i));
    for (int i = 0; i < 64; ++i)
        wait_for(fmt::format("p{}", i), [](const kube::Pod* p) { return p == nullptr; });
}

TEST_P(NodeLoadTest, WhatAPodUsesIsMeasured) {
    start_node();
    create(pod_json("p", shell("exec sleep 1000")));
    wait_phase("p", "Running");
    create(pod_json("busy", shell("while :; do :; done")));
    wait_phase("busy", "Running");
    const auto usage = await(node->usage());
    ASSERT_TRUE(usage);
    EXPECT_GE(usage->window, Duration(std::chrono::seconds(1)));
    EXPECT_GT(usage->machine.memory_bytes, 0);
    const auto of = [&](const std::string& name) {
        const auto found = std::ranges::find(usage->pods, name, &kube::PodUsage::name);
        EXPECT_NE(found, usage->pods.end()) << name;
        return found == usage->pods.end() ? kube::Usage{} : found->containers.at(0).usage;
    };
    EXPECT_GT(of("busy").cpu_nanos, of("p").cpu_nanos);
    EXPECT_GT(of("busy").cpu_nanos, 0);
    EXPECT_GT(of("p").memory_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeLoadTest,
                         testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone), mode_name);

}  // namespace
}  // namespace muster::runtime::node_load_test
