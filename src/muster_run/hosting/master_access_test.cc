#include "muster_run/hosting/master_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/test_loop.h"

namespace muster::run::master_access_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Where = launch::Rendezvous::Where;

/// Of no node, and a connection to it fails at once: it is an address of a group.
constexpr const char* kNobodys = "224.0.0.1";

class MasterAccessTest : public ::testing::Test, protected RealLoop {
  protected:
    Result<void> open(Where where, std::vector<std::string> endpoints) {
        plan.rendezvous.where = where;
        for (const std::string& host : endpoints) plan.rendezvous.endpoints.push_back({host, 0});
        plan.times.silence = std::chrono::hours(1);
        access = std::make_unique<MasterAccess>(context.get_executor(), clock, rng, names, plan,
                                                credentials, root);
        return await(access->open({}));
    }
    Result<std::unique_ptr<net::ByteStream>> connect() { return await(access->connect(agent)); }
    void TearDown() override {
        if (access) await(access->stop());
        access.reset();  // with the thread that writes the record
        await(names.stop());
        std::filesystem::remove_all(root);
    }

    std::filesystem::path root = [] {
        std::string name = ::testing::TempDir() + "muster-access-XXXXXX";
        return std::filesystem::path(::mkdtemp(name.data()));
    }();
    Rng rng{5};
    net::NameLookup names{context.get_executor()};
    launch::LaunchPlan plan;
    Credentials credentials{.token = "secret"};
    agent::WorkerState agent{{}, std::nullopt, Instant()};
    std::unique_ptr<MasterAccess> access;
};

TEST_F(MasterAccessTest, AJobOfOneNodeHasItsMasterHere) {
    ASSERT_TRUE(open(Where::kHere, {}));
    EXPECT_FALSE(access->can_host()) << "of the next master, there is none";
    EXPECT_TRUE(connect());
}

TEST_F(MasterAccessTest, TheFirstEndpointsMachineHostsIt) {
    ASSERT_TRUE(open(Where::kEndpoints, {"127.0.0.1", kNobodys}));
    EXPECT_TRUE(access->can_host());
    EXPECT_TRUE(connect());
}

TEST_F(MasterAccessTest, AnEndpointBehindItWaitsForItsTurn) {
    ASSERT_TRUE(open(Where::kEndpoints, {kNobodys, "127.0.0.1"}));
    EXPECT_TRUE(access->can_host());
    const auto connected = connect();
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code(), Code::kUnavailable);
    EXPECT_THAT(connected.error().message(),
                AllOf(HasSubstr("224.0.0.1:0: "), HasSubstr("127.0.0.1:0: ")));
    EXPECT_FALSE(std::filesystem::exists(root / "master.record"));
}

TEST_F(MasterAccessTest, ANodeWithoutAnEndpointHostsNone) {
    ASSERT_TRUE(open(Where::kEndpoints, {kNobodys}));
    EXPECT_FALSE(access->can_host());
    EXPECT_FALSE(connect());
}

}  // namespace
}  // namespace muster::run::master_access_test
