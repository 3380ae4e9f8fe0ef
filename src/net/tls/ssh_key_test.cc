#include "net/tls/ssh_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/internal/tls/openssl.h"

namespace muster::net::ssh_key_test {
namespace {

using ::testing::EndsWith;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(SshKey, IsInTheFormsThatOpenSshReads) {
    const SshKey key = make_ssh_key().value();
    EXPECT_THAT(key.private_pem, StartsWith("-----BEGIN EC PRIVATE KEY-----\n"));
    EXPECT_THAT(key.private_pem, EndsWith("-----END EC PRIVATE KEY-----\n"));
    EXPECT_TRUE(parse_private_key(key.private_pem).has_value());
    // Type, curve and an uncompressed point of 2 x 66 bytes, each with its length: 172 bytes.
    EXPECT_THAT(key.public_line,
                MatchesRegex("ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjE"
                             "AAACFB[A-Za-z0-9+/]*=*\n"));
    EXPECT_THAT(key.public_line, SizeIs(20 + 232 + 1));
}

TEST(SshKey, IsAnotherOneEachTime) {
    EXPECT_NE(make_ssh_key().value().public_line, make_ssh_key().value().public_line);
}

}  // namespace
}  // namespace muster::net::ssh_key_test
