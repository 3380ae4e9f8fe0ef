#include "kube/internal/client_config/server_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube::server_credentials_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(CredentialHeaders, SayWhoAsks) {
    ClientConfig access;
    EXPECT_THAT(credential_headers(access, ""), IsEmpty());
    EXPECT_THAT(credential_headers(access, "t"), ElementsAre(Pair("Authorization", "Bearer t")));
    access.username = "user";
    access.password = "password";
    EXPECT_THAT(credential_headers(access, ""),
                ElementsAre(Pair("Authorization", "Basic dXNlcjpwYXNzd29yZA==")));
}

TEST(CredentialHeaders, SayAsWhom) {
    ClientConfig access;
    access.act_as = {.user = "ann",
                     .uid = "7",
                     .groups = {"dev", "ops"},
                     .extra = {{"acme.com/scopes", "a"}, {"acme.com/scopes", "b"}, {"50%", "c"}}};
    EXPECT_THAT(credential_headers(access, "t"),
                ElementsAre(Pair("Authorization", "Bearer t"), Pair("Impersonate-User", "ann"),
                            Pair("Impersonate-Uid", "7"), Pair("Impersonate-Group", "dev"),
                            Pair("Impersonate-Group", "ops"),
                            Pair("Impersonate-Extra-acme.com%2Fscopes", "a"),
                            Pair("Impersonate-Extra-acme.com%2Fscopes", "b"),
                            Pair("Impersonate-Extra-50%25", "c")));
}

}  // namespace
}  // namespace muster::kube::server_credentials_test
