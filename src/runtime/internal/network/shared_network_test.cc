#include "runtime/internal/network/shared_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/internal/network/own_network_fixture.h"

namespace muster::runtime::shared_network_test {
namespace {

TEST(SharedNetworkTest, OneAtATimeUntilTheDescriptorIsClosed) {
    const OwnNetwork network;
    auto first = claim_shared_network();
    ASSERT_TRUE(first.has_value()) << first.error().message();
    auto second = claim_shared_network();
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code(), Code::kUnavailable);
    EXPECT_THAT(second.error().message(), ::testing::HasSubstr("--sandbox namespaces"));
    first->reset();
    EXPECT_TRUE(claim_shared_network().has_value());
}

TEST(SharedNetworkTest, EachNetworkCanBeClaimed) {
    const OwnNetwork one;
    if (!one.made()) GTEST_SKIP() << "this user may make no network";
    const auto claim = claim_shared_network();
    ASSERT_TRUE(claim.has_value()) << claim.error().message();
    {
        const OwnNetwork other;
        EXPECT_TRUE(claim_shared_network().has_value());
    }
    EXPECT_FALSE(claim_shared_network().has_value());
}

}  // namespace
}  // namespace muster::runtime::shared_network_test
