#include "apiserver/objects/service_range.h"

#include <gtest/gtest.h>

namespace muster::apiserver::service_range_test {
namespace {

TEST(ServiceRange, IsRead) {
    EXPECT_EQ(ServiceRange::parse("10.96.0.0/12"), ServiceRange{});
    EXPECT_EQ(ServiceRange::parse("10.0.0.77/24"), (ServiceRange{*parse_ipv4("10.0.0.0"), 256}));
    EXPECT_EQ(ServiceRange::parse("10.9.8.7/32"), (ServiceRange{*parse_ipv4("10.9.8.7"), 1}));
    EXPECT_EQ(ServiceRange::parse("10.0.0.0/24")->first(), "10.0.0.1");
}

TEST(ServiceRange, WhatIsNoIpv4NetworkIsRefused) {
    for (const char* text :
         {"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0/24", "fd00::/108", "10.0.0.0/-1",
          "10.0.0.0/24,fd00::/108", "10.0.0.256/24", "10.0.0.0/0"})
        EXPECT_EQ(ServiceRange::parse(text), std::nullopt) << text;
}

TEST(ServiceRange, KnowsItsAddresses) {
    const ServiceRange range = *ServiceRange::parse("10.0.0.0/29");
    EXPECT_TRUE(range.contains(*parse_ipv4("10.0.0.7")));
    EXPECT_FALSE(range.contains(*parse_ipv4("10.0.0.8")));
    EXPECT_FALSE(range.contains(*parse_ipv4("9.255.255.255")));
}

}  // namespace
}  // namespace muster::apiserver::service_range_test
