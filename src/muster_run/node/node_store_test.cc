#include "muster_run/node/node_store.h"

#include <gtest/gtest.h>

namespace muster::run {
namespace {

TEST(NodeStore, KnowsAnAddressWhicheverFamilyTellsIt) {
    EXPECT_EQ(host_of("10.0.0.7:51234"), "10.0.0.7");
    EXPECT_EQ(host_of("[::ffff:10.0.0.7]:51234"), "10.0.0.7");
    EXPECT_EQ(host_of("[fd00:0::1]:80"), "fd00::1");
    EXPECT_EQ(host_of("unix"), "unix");
}

}  // namespace
}  // namespace muster::run
