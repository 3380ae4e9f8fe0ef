#include "runtime/internal/files/pod_tokens.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "apiserver/api_server.h"
#include "base/test_loop.h"
#include "kube/objects/codec.h"

namespace muster::runtime::pod_tokens_test {
namespace {

using namespace std::chrono_literals;

TEST(UseOfTokenTest, FourFifthsAndADayAtTheMost) {
    EXPECT_EQ(use_of_token(3600s), 2880s);
    EXPECT_EQ(use_of_token(600s), 480s);
    EXPECT_EQ(use_of_token(30h), 24h);
    EXPECT_EQ(use_of_token(720h), 24h);
}

/// Against a server that knows the accounts.
class PodTokensTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    PodTokensTest() {
        EXPECT_TRUE(await(server.start()));
        settle();
        pod = make(R"({"serviceAccountToken":{"path":"token","expirationSeconds":1000}},
                      {"serviceAccountToken":{"path":"vault","audience":"vault"}})");
    }
    ~PodTokensTest() override { await(server.stop()); }

    std::shared_ptr<const kube::Pod> make(const std::string& sources) {
        auto written = await(client.create(
            kube::types::kPods, "default",
            json::parse(R"({"metadata":{"name":"p"},"spec":{"automountServiceAccountToken":false,
                "containers":[{"name":"main","image":"i"}],
                "volumes":[{"name":"v","projected":{"sources":[)" +
                        sources + "]}}]}}")));
        EXPECT_TRUE(written) << written.error().message();
        return std::make_shared<const kube::Pod>(*kube::decode<kube::Pod>(*written->object));
    }

    Rng rng{1};
    apiserver::ApiServer server{
        context.get_executor(),
        clock,
        rng,
        store::make_memory_store(),
        {.signing_key = *net::SigningKey::parse(*net::make_signing_key()), .root_ca_pem = "CA"}};
    kube::Client client{server, "test"};
    PodTokens tokens{client, clock};
    std::shared_ptr<const kube::Pod> pod;
};

const TokenWanted kOwn{.audience = "", .seconds = 1000};
const TokenWanted kVault{.audience = "vault", .seconds = 3600};

TEST_F(PodTokensTest, EachIsAskedForOnceAndAgainWhenItIsDue) {
    EXPECT_EQ(tokens.due(), std::nullopt);
    const WallTime start = clock.wall_now();
    ASSERT_TRUE(await(tokens.fetch(pod)));
    const auto first = tokens.texts();
    ASSERT_EQ(first.size(), 2u);
    EXPECT_NE(first.at(kOwn), first.at(kVault));
    EXPECT_EQ(tokens.due(), start + 800s);
    advance(799s);
    ASSERT_TRUE(await(tokens.fetch(pod)));
    EXPECT_EQ(tokens.texts(), first);
    advance(1s);
    ASSERT_TRUE(await(tokens.fetch(pod)));
    EXPECT_NE(tokens.texts().at(kOwn), first.at(kOwn));
    EXPECT_EQ(tokens.texts().at(kVault), first.at(kVault)) << "it has longer to live";
    EXPECT_EQ(tokens.due(), start + 1600s);
}

/// As if the machine was suspended: the calendar went on, the monotonic clock did not.
TEST_F(PodTokensTest, AStepOfTheCalendarMakesThemDue) {
    ASSERT_TRUE(await(tokens.fetch(pod)));
    const auto first = tokens.texts();
    EXPECT_FALSE(tokens.is_due());
    clock.skew_wall(2h);
    EXPECT_TRUE(tokens.is_due());
    ASSERT_TRUE(await(tokens.fetch(pod)));
    const auto second = tokens.texts();
    EXPECT_NE(second.at(kOwn), first.at(kOwn));
    EXPECT_NE(second.at(kVault), first.at(kVault));
    EXPECT_FALSE(tokens.is_due());
    // They are not valid before they were granted.
    clock.skew_wall(-2h);
    EXPECT_TRUE(tokens.is_due());
    ASSERT_TRUE(await(tokens.fetch(pod)));
    EXPECT_NE(tokens.texts().at(kOwn), second.at(kOwn));
    EXPECT_EQ(tokens.due(), clock.wall_now() + 800s);
}

TEST_F(PodTokensTest, WhatIsRefusedSaysWhyAndTakesNothingAway) {
    ASSERT_TRUE(await(tokens.fetch(pod)));
    const auto first = tokens.texts();
    ASSERT_TRUE(await(client.remove(kube::types::kPods, "default", "p")));
    make("");
    advance(1h);
    const auto again = await(tokens.fetch(pod));
    ASSERT_FALSE(again);
    EXPECT_THAT(again.error().message(),
                testing::HasSubstr("failed to fetch token of service account default: "));
    EXPECT_EQ(tokens.texts(), first);
}

}  // namespace
}  // namespace muster::runtime::pod_tokens_test
