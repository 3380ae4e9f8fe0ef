#include "muster_run/node/node_facts.h"

#include <gtest/gtest.h>

namespace muster::run::node_facts_test {
namespace {

TEST(NodeFacts, ThisMachineCanBeDescribed) {
    EXPECT_GE(devices_here({}).cpus, 1);
    EXPECT_EQ(devices_here({{"CUDA_VISIBLE_DEVICES", ""}}).gpus, 0);
    EXPECT_FALSE(names_here().addresses.empty());
    EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
    EXPECT_EQ(address_towards("no address"), "");
}

}  // namespace
}  // namespace muster::run::node_facts_test
