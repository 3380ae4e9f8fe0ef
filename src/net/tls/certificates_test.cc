#include "net/tls/certificates.h"

#include <gtest/gtest.h>

#include <set>

#include "net/tls/tls_fixture.h"

namespace muster::net::certificates_test {
namespace {

const Validity kValidity = TlsFixture::validity();

TEST(Certificates, AServersNamesAreReadBack) {
    const ServerNames names{.addresses = {"127.0.0.1", "10.0.0.1", "fd00::1"},
                            .dns_names = {"localhost", "kubernetes.default.svc", "*.example.org"}};
    const auto made = sign_server_certificate(TlsFixture::get().ca, "server", names, kValidity);
    ASSERT_TRUE(made) << made.error().message();
    const auto read = certificate_names(made->certificate);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->addresses, names.addresses);
    EXPECT_EQ(read->dns_names, names.dns_names);
}

TEST(Certificates, TheExpiryIsThatOfTheValidity) {
    using namespace std::chrono;
    for (const WallTime until : {WallTime(sys_days(2027y / 2 / 28) + 23h + 59min + 58s),
                                 WallTime(sys_days(2049y / 12 / 31)),
                                 // From 2050 on certificates write the time in another way.
                                 WallTime(sys_days(2051y / 1 / 1) + 1s)}) {
        const auto made = make_ca("CA", {.from = kValidity.from, .until = until});
        ASSERT_TRUE(made) << made.error().message();
        const auto expiry = certificate_expiry(made->certificate);
        ASSERT_TRUE(expiry) << expiry.error().message();
        EXPECT_EQ(*expiry, until);
    }
}

TEST(Certificates, AKeyBelongsToItsCertificateAlone) {
    const TlsFixture& made = TlsFixture::get();
    EXPECT_TRUE(*key_belongs(made.server.certificate, made.server.key));
    EXPECT_FALSE(*key_belongs(made.server.certificate, made.client.key));
}

TEST(Certificates, OneIsSignedByItsOwnCaAlone) {
    const TlsFixture& made = TlsFixture::get();
    const auto other = make_ca("CA", kValidity);
    ASSERT_TRUE(other) << other.error().message();
    EXPECT_TRUE(*is_signed_by(made.server.certificate, made.ca.certificate));
    EXPECT_TRUE(*is_signed_by(made.client.certificate, made.ca.certificate));
    EXPECT_FALSE(*is_signed_by(made.server.certificate, other->certificate));
    EXPECT_FALSE(is_signed_by("nothing", made.ca.certificate));
}

TEST(Certificates, WhatCanNotBeSignedIsRefused) {
    const KeyPair& ca = TlsFixture::get().ca;
    const auto server = [&](ServerNames names) {
        return sign_server_certificate(ca, "server", names, kValidity);
    };
    const auto client = [&](PeerCertificate subject) {
        return sign_client_certificate(ca, subject, kValidity);
    };
    const std::pair<const char*, Result<KeyPair>> cases[] = {
        {"no name", server({})},
        {"a name as address", server({.addresses = {"localhost"}, .dns_names = {}})},
        {"a line as DNS name", server({.addresses = {}, .dns_names = {"a\nb"}})},
        {"a list as DNS name", server({.addresses = {}, .dns_names = {"a,DNS:b"}})},
        {"an empty DNS name", server({.addresses = {}, .dns_names = {""}})},
        {"nobody", client({.common_name = "", .organizations = {}})},
        {"a long name", client({.common_name = std::string(65, 'x'), .organizations = {}})},
        {"an empty group", client({.common_name = "ada", .organizations = {""}})},
        {"ends before it begins",
         make_ca("CA", {.from = kValidity.until, .until = kValidity.from})},
        {"a CA without certificate",
         sign_client_certificate({.certificate = "", .key = ca.key},
                                 {.common_name = "ada", .organizations = {}}, kValidity)},
        {"another CA's key",
         sign_client_certificate(
             {.certificate = ca.certificate, .key = TlsFixture::get().server.key},
             {.common_name = "ada", .organizations = {}}, kValidity)},
    };
    for (const auto& [what, result] : cases) {
        ASSERT_FALSE(result) << what;
        EXPECT_EQ(result.error().code(), Code::kInvalid)
            << what << ": " << result.error().message();
    }
}

TEST(Certificates, TextThatIsNoneIsRefusedWithAReason) {
    for (const char* text :
         {"", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
        const auto expiry = certificate_expiry(text);
        ASSERT_FALSE(expiry) << text;
        EXPECT_EQ(expiry.error().code(), Code::kInvalid);
        EXPECT_TRUE(expiry.error().message().starts_with("reading a certificate: "))
            << expiry.error().message();
    }
    const KeyPair& server = TlsFixture::get().server;
    EXPECT_FALSE(key_belongs(server.certificate, server.certificate)) << "no key in it";
}

TEST(Certificates, TokensAreRandomAndOfTheirLength) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const auto token = random_token(16);
        ASSERT_TRUE(token);
        EXPECT_EQ(token->size(), 32u);
        EXPECT_EQ(token->find_first_not_of("0123456789abcdef"), std::string::npos);
        seen.insert(*token);
    }
    EXPECT_EQ(seen.size(), 100u);
    EXPECT_EQ(random_bytes(7)->size(), 7u);
}

}  // namespace
}  // namespace muster::net::certificates_test
