#include "muster_run/node/own_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_loop.h"

namespace muster::run::own_address_test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using By = OwnAddress::By;
using Where = launch::Rendezvous::Where;

class OwnAddressTest : public ::testing::Test, protected RealLoop {
  protected:
    OwnAddress own(const launch::LaunchPlan& plan, const launch::Variables& variables = {}) {
        const auto found = await(own_address(plan, variables, {.addresses = {"10.9.9.9"}}, names));
        EXPECT_TRUE(found) << found.error().message();
        return found ? *found : OwnAddress();
    }
    static launch::LaunchPlan meeting_at(std::vector<std::string> hosts) {
        launch::LaunchPlan plan{.rendezvous = {.where = Where::kEndpoints}};
        for (std::string& host : hosts) plan.rendezvous.endpoints.push_back({std::move(host), 1});
        return plan;
    }
    void TearDown() override { await(names.stop()); }

    net::NameLookup names{context.get_executor()};
};

TEST_F(OwnAddressTest, WhatIsGivenStays) {
    launch::LaunchPlan plan = meeting_at({"127.0.0.1"});
    plan.local_addr = "10.1.1.1";
    EXPECT_EQ(own(plan).text, "10.1.1.1");
    EXPECT_EQ(own(plan).by, By::kGiven);
    EXPECT_EQ(own(meeting_at({"127.0.0.1"}), {{"POD_IP", "10.2.2.2"}}).text, "10.2.2.2");
    EXPECT_EQ(own({.rendezvous = {.where = Where::kHere}}).text, "127.0.0.1");
    EXPECT_EQ(address_now({.text = "10.1.1.1", .by = By::kGiven}, "10.3.3.3"), "10.1.1.1");
}

TEST_F(OwnAddressTest, AnEndpointOfItsOwnSaysNothing) {
    for (const char* host : {"127.0.0.1", "127.0.1.1"}) {
        const OwnAddress guess = own(meeting_at({host}));
        EXPECT_EQ(guess.by, By::kGuess) << host;
        EXPECT_FALSE(guess.text.starts_with("127.")) << host;
    }
}

TEST_F(OwnAddressTest, TheWayToTheMasterIsKnownBest) {
    for (const By by : {By::kRoute, By::kGuess}) {
        const OwnAddress own{.text = "10.1.1.1", .by = by};
        EXPECT_EQ(address_now(own, "10.3.3.3"), "10.3.3.3");
        EXPECT_EQ(address_now(own, "fd00::3"), "fd00::3");
        EXPECT_EQ(address_now(own, "127.0.0.1"), "10.1.1.1") << "it is on this machine";
        EXPECT_EQ(address_now(own, ""), "10.1.1.1");
    }
}

TEST_F(OwnAddressTest, OthersMaySeeItByEachOfItsAddresses) {
    EXPECT_THAT(other_addresses("10.1.1.1", {"127.0.0.1", "10.1.1.1", "10.2.2.2", "::1", "fe80::1",
                                             "fd00::1", "169.254.0.1"}),
                ElementsAre("10.2.2.2", "fd00::1"));
    std::vector<std::string> many;
    for (int i = 0; i < 200; ++i) many.push_back("10.1.2." + std::to_string(i));
    EXPECT_THAT(other_addresses("10.1.1.1", many), SizeIs(16));
}

}  // namespace
}  // namespace muster::run::own_address_test
