#include "apiserver/authentication/authentication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::apiserver::authentication_test {
namespace {

using testing::ElementsAre;

constexpr const char* kToken = "0123456789abcdef";

TEST(Authentication, Tokens) {
    const AccessOptions options{.admin_token = kToken};
    for (const char* header :
         {"Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER  0123456789abcdef"}) {
        const Result<User> user = authenticate(options, header, std::nullopt);
        ASSERT_TRUE(user.has_value()) << header;
        EXPECT_EQ(user->name, "muster-admin");
        EXPECT_TRUE(user->in_group("system:masters"));
        EXPECT_TRUE(user->in_group("system:authenticated"));
    }
    for (const char* header :
         {"Bearer", "Bearer ", "Bearer x", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0",
          "Basic 0123456789abcdef", "0123456789abcdef", "Bearer\t0123456789abcdef"}) {
        const Result<User> user = authenticate(options, header, std::nullopt);
        ASSERT_FALSE(user.has_value()) << header;
        EXPECT_EQ(user.error().code(), Code::kUnauthorized);
    }
}

TEST(Authentication, KnownTokens) {
    const AccessOptions options{
        .tokens = {{"abc", {"ann", "7", {"dev"}, {}}}, {"", {"eve", "", {}, {}}}}};
    const Result<User> user = authenticate(options, "Bearer abc", std::nullopt);
    ASSERT_TRUE(user.has_value());
    EXPECT_EQ(user->name, "ann");
    EXPECT_EQ(user->uid, "7");
    EXPECT_THAT(user->groups, ElementsAre("dev", "system:authenticated"));
    for (const char* header : {"Bearer ab", "Bearer abcd", "Bearer "})
        EXPECT_FALSE(authenticate(options, header, std::nullopt).has_value()) << header;
}

TEST(Authentication, AnonymousRequestsCanBeRefused) {
    const AccessOptions options{.anonymous = false};
    EXPECT_FALSE(authenticate(options, "", std::nullopt).has_value());
    EXPECT_TRUE(authenticate(options, "", net::PeerCertificate{"ann", {}}).has_value());
}

TEST(Authentication, WithoutATokenOfTheServerNoneIsRight) {
    for (const char* header : {"Bearer ", "Bearer x"})
        EXPECT_FALSE(authenticate({}, header, std::nullopt).has_value()) << header;
}

TEST(Authentication, Certificates) {
    const net::PeerCertificate certificate{"ann", {"dev", "ops"}};
    const Result<User> user = authenticate({.admin_token = kToken}, "", certificate);
    ASSERT_TRUE(user.has_value());
    EXPECT_EQ(user->name, "ann");
    EXPECT_THAT(user->groups, ElementsAre("dev", "ops", "system:authenticated"));
    EXPECT_FALSE(authenticate({.admin_token = kToken}, "", net::PeerCertificate{}).has_value());
    // A wrong token is not made good by a certificate.
    EXPECT_FALSE(authenticate({.admin_token = kToken}, "Bearer x", certificate).has_value());
}

TEST(Authentication, NobodyIsAnonymousUnlessCertificatesAreDemanded) {
    const Result<User> user = authenticate({.admin_token = kToken}, "", std::nullopt);
    ASSERT_TRUE(user.has_value());
    EXPECT_EQ(user->name, "system:anonymous");
    EXPECT_THAT(user->groups, ElementsAre("system:unauthenticated"));

    const AccessOptions strict{.admin_token = kToken, .demand_certificate = true};
    EXPECT_FALSE(authenticate(strict, "", std::nullopt).has_value());
    EXPECT_FALSE(authenticate(strict, "Bearer 0123456789abcdef", std::nullopt).has_value());
    EXPECT_TRUE(authenticate(strict, "Bearer 0123456789abcdef", net::PeerCertificate{"ann", {}})
                    .has_value());
}

}  // namespace
}  // namespace muster::apiserver::authentication_test
