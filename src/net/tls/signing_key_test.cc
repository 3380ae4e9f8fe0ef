#include "net/tls/signing_key.h"

#include <gtest/gtest.h>

#include "net/tls/certificates.h"

namespace muster::net::signing_key_test {
namespace {

// A key for tests alone.
constexpr const char* kRsaPem = R"(-----BEGIN PRIVATE KEY-----
MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDH4XlD9C6fcE4H
8ph8yjCX8AX1pKu5W+zYy16LE/X67a6OElshgZyVjeTs1gummcLDcB5Yvr726K0A
m3oLTxDN2wqymLLGXr6Xd0CGgB/9/XNUcqRJFvEIINlPaumn1lAFzPIv6OmQ30C5
lwyj2wjwkz1XGnLF/VXH1lNRD3bjFdd4dVql5ezL1bVva7PuxnDn3/mrDAIsgxAG
c6LNSVE8wU5Ul4D2XKJ/xVS+Y+qqdmXETavhl0wgxGfEcjrsbsNc4JKhwASgpHLr
rhnUWzyquu/nQTb1znkm/gsMquWY/DxM2LAuVl89RSXHKTJzmiIQL6kcB6K5I+jm
xJowQ1cHAgMBAAECggEAHlsG0KQn5HzozNoyAFmwkZKZRRoSHl9wk+gm3pZUeBxa
sybkgi0t+6SGDNXhBRc69fV0FmQ5mkPx6jKykT8bvTez4zW/iNLgvR4WRZb1xNwW
BNA4VQVP670ZY69H9v5cPtVGPrJvrlnJeaYP/F6KeAbUfQL+RUVZHrVVB+2CT7A/
WpSbeFuVQ2Q18gpPW6uK1FRrC19/24xOh19Z2LqwQ6UtH4mIu9p7xuC1XJchbDcz
qpFuhOJYP0tPNqsHmKE4VN2CSeSUfj70NWBm3RK5roi3leFxbPLkGQ6lsBow0bW/
C1kklivfmTjf4Pz0+NuAFGQRAIQDzB2Xy1Y0bvY78QKBgQD8+JhtChsZKPL30Yea
0qiDGlr/mCWOLgi4r9qsfZMsEdkQjR5HuvExZNggD9arOPxDYYUmmCUchh5/6Fyy
IK+WitI0bRqxh78ECtDLiFyz01i8Gn5sseKnCOoWHHbygEsgIReccCy3GmpdyQyE
466kuCr2w5kJ6XVvgWdfChO4SQKBgQDKRiV1stzQuv/s3A1EWN9JJBbu6pTi4CYT
2tt/F85mcEpzGyBtlwGVitn13R6fOA1P8YgdAZxxJnPW/MTkf+aOBH+3St889L8z
P7UZEXA6J4ucIlVkK0W9Y0YRUJuh7IO4EBLfCFsL+3Ajy0Qb729jUSw+ys/32Lmq
RHeZ0s60zwKBgAdmSiceXY6N2RWQpnPL56v2EGVbkPWouQ6V7kKPZcerOfs29YTJ
nhaAyaWecPwPLanW52sqliNQdQHuzQ9Uz24K330zF83Ll7XJjzP06ClGbFkMOVh6
l5OlOhutd3k+cXQeI6+qxFQSzLuzjs8wTcJ5tKAFNqvIjWvWkCyCgfMpAoGAVJuU
za+cR78Aj/3XmtAlzb1HznXXAzNJGiMAjx/RGO49ZfphzRVN91RWKU5toaHbh6X7
Dk7/NiEkcTfXz9BkCuF83pl12VRyqagrQyoVLG4gKpX96+Fh0X817sYt40RAMHyg
uCQRmWh6Fq7OdXTovb1VaYqCBSTlPIBZGsGf7ucCgYBJIpEpz054u2X/8JMkk/px
unFnV4k8Ik8dUre+d6DfK7JBkp75w/xlpDFKXBpvbE4BN/axO7Jv6zbenYcB4jiZ
MybzNMkKttxkOP6mT2qqmmb/rAW58rBFFOC6uHvwB2zwxjbsHIACBY5mFIVg0KHs
M0HYD1p8M7f7WCY0SZDuyw==
-----END PRIVATE KEY-----
)";

constexpr const char* kRsaPublicPem = R"(-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAx+F5Q/Qun3BOB/KYfMow
l/AF9aSruVvs2MteixP1+u2ujhJbIYGclY3k7NYLppnCw3AeWL6+9uitAJt6C08Q
zdsKspiyxl6+l3dAhoAf/f1zVHKkSRbxCCDZT2rpp9ZQBczyL+jpkN9AuZcMo9sI
8JM9Vxpyxf1Vx9ZTUQ924xXXeHVapeXsy9W1b2uz7sZw59/5qwwCLIMQBnOizUlR
PMFOVJeA9lyif8VUvmPqqnZlxE2r4ZdMIMRnxHI67G7DXOCSocAEoKRy664Z1Fs8
qrrv50E29c55Jv4LDKrlmPw8TNiwLlZfPUUlxykyc5oiEC+pHAeiuSPo5sSaMENX
BwIDAQAB
-----END PUBLIC KEY-----
)";

/// The same as PKCS#1.
constexpr const char* kRsaPublicPkcs1 = R"(-----BEGIN RSA PUBLIC KEY-----
MIIBCgKCAQEAx+F5Q/Qun3BOB/KYfMowl/AF9aSruVvs2MteixP1+u2ujhJbIYGc
lY3k7NYLppnCw3AeWL6+9uitAJt6C08QzdsKspiyxl6+l3dAhoAf/f1zVHKkSRbx
CCDZT2rpp9ZQBczyL+jpkN9AuZcMo9sI8JM9Vxpyxf1Vx9ZTUQ924xXXeHVapeXs
y9W1b2uz7sZw59/5qwwCLIMQBnOizUlRPMFOVJeA9lyif8VUvmPqqnZlxE2r4ZdM
IMRnxHI67G7DXOCSocAEoKRy664Z1Fs8qrrv50E29c55Jv4LDKrlmPw8TNiwLlZf
PUUlxykyc5oiEC+pHAeiuSPo5sSaMENXBwIDAQAB
-----END RSA PUBLIC KEY-----
)";

std::shared_ptr<const SigningKey> parsed(std::string_view pem) {
    auto key = SigningKey::parse(pem);
    EXPECT_TRUE(key.has_value()) << key.error().message();
    return key ? *key : nullptr;
}
std::shared_ptr<const SigningKey> fresh() {
    const Result<std::string> pem = make_signing_key();
    EXPECT_TRUE(pem.has_value());
    return parsed(*pem);
}

TEST(SigningKey, WhatItSignedItKnows) {
    struct Row {
        std::shared_ptr<const SigningKey> key;
        std::string_view algorithm;
        std::size_t signature_bytes;
    };
    for (const Row& row : {Row{fresh(), "ES256", 64}, Row{parsed(kRsaPem), "RS256", 256}}) {
        EXPECT_EQ(row.key->algorithm(), row.algorithm);
        // r and s are numbers: in one of some hundred signatures one of them is a byte shorter.
        for (int i = 0; i < 400; ++i) {
            const std::string text = "text " + std::to_string(i);
            const Result<std::string> signature = row.key->sign(text);
            ASSERT_TRUE(signature.has_value());
            ASSERT_EQ(signature->size(), row.signature_bytes);
            ASSERT_TRUE(row.key->verify(text, *signature)) << i;
            if (i >= 20 && row.algorithm == "RS256") break;
        }
        const std::string signature = *row.key->sign("text");
        EXPECT_FALSE(row.key->verify("texT", signature));
        EXPECT_FALSE(row.key->verify("", signature));
        EXPECT_FALSE(row.key->verify("text", ""));
        EXPECT_FALSE(row.key->verify("text", signature.substr(1)));
        EXPECT_FALSE(row.key->verify("text", signature + "x"));
        EXPECT_FALSE(row.key->verify("text", std::string(signature.size(), '\0')));
        EXPECT_FALSE(row.key->verify("text", std::string(signature.size(), '\xff')));
        for (std::size_t at = 0; at < signature.size(); at += 7) {
            std::string bent = signature;
            bent[at] = static_cast<char>(bent[at] ^ 1);
            EXPECT_FALSE(row.key->verify("text", bent)) << at;
        }
        EXPECT_TRUE(row.key->verify("text", signature)) << "refusals leave nothing behind";
    }
}

TEST(SigningKey, AnotherKeyDoesNotKnowIt) {
    const auto one = fresh();
    const auto other = fresh();
    EXPECT_NE(one->fingerprint(), other->fingerprint());
    EXPECT_FALSE(other->verify("text", *one->sign("text")));
    EXPECT_FALSE(parsed(kRsaPem)->verify("text", *one->sign("text")));
}

TEST(SigningKey, TheSamePemIsTheSameKey) {
    const std::string pem = *make_signing_key();
    const auto one = parsed(pem);
    const auto again = parsed(pem);
    EXPECT_EQ(one->fingerprint(), again->fingerprint());
    EXPECT_EQ(one->fingerprint().size(), 32);
    EXPECT_TRUE(again->verify("text", *one->sign("text")));
    EXPECT_EQ(one->public_key().first.size(), 32);
    EXPECT_EQ(one->public_key().second.size(), 32);
    EXPECT_EQ(parsed(kRsaPem)->public_key().first.size(), 256);
    EXPECT_EQ(parsed(kRsaPem)->public_key().second, std::string("\x01\x00\x01", 3));
}

TEST(VerifyingKey, IsFoundInKeysOfBothKindsAndInCertificates) {
    const auto rsa = parsed(kRsaPem);
    for (const char* pem : {kRsaPem, kRsaPublicPem, kRsaPublicPkcs1}) {
        const auto keys = VerifyingKey::parse_all(pem);
        ASSERT_TRUE(keys.has_value()) << keys.error().message();
        ASSERT_EQ(keys->size(), 1);
        EXPECT_EQ(keys->front()->fingerprint(), rsa->fingerprint());
        EXPECT_TRUE(keys->front()->verify("text", *rsa->sign("text")));
    }
    const WallTime now(std::chrono::seconds(1'700'000'000));
    const KeyPair pair = *make_ca("accounts", {now, now + std::chrono::hours(1)});
    const auto both = VerifyingKey::parse_all(
        pair.certificate + "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC " +
        "PARAMETERS-----\n" + kRsaPublicPem);
    ASSERT_TRUE(both.has_value()) << both.error().message();
    ASSERT_EQ(both->size(), 2);
    EXPECT_TRUE(both->front()->verify("text", *parsed(pair.key)->sign("text")));
    EXPECT_EQ(both->back()->fingerprint(), rsa->fingerprint());
}

TEST(VerifyingKey, WhatHasNoKeyIsRefused) {
    for (const char* text :
         {"", "text", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
          "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
        const auto keys = VerifyingKey::parse_all(text);
        ASSERT_FALSE(keys.has_value()) << text;
        EXPECT_EQ(keys.error().code(), Code::kInvalid);
    }
}

TEST(SigningKey, WhatIsNoKeyIsRefused) {
    for (const char* text :
         {"", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
        const auto key = SigningKey::parse(text);
        ASSERT_FALSE(key.has_value());
        EXPECT_EQ(key.error().code(), Code::kInvalid);
    }
    constexpr const char* kWeak[] = {R"(-----BEGIN PRIVATE KEY-----
MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBALAsggRLo934mn65
u9KnKoqhRvnsKiDIusZtCnvVFoguRi2d13t+p3MjzIVBMnlIRNaICqt8cP0dHgGN
Sf7KuKwyNdI6BHZpcY5uHj1TpmpPo3gcf1M48wdOLhkTYNcBRms7BjoZfKDtP1P3
2kAZXbyOZMCW160aqU8ShhR3jAWlAgMBAAECgYAo0dc6SZBpcR3S+RQU5hjMUDwS
0m6cdAYazc8dDC2RVi96iFUSTzFbU1MjGQ0p3t3cW18lhsrjSujV8TfQ6oXJNWCH
RvTy0gM2HliK29HCzzTWZtvjTD96g4HX4900XADIOBcI+dZ0Se6t+bNUYjnS6VIg
H3rP5HohPv36UoYfgQJBAOpiCRkCP4aO1LLpIQ/aSUbsgc7MSfORldgQRv2i/8SR
TCVQC0v4LEJGenT4UyY0UlSAlFbnJo1zvC+BOmqfmkUCQQDAbBw3rgreZpNVo6ZU
8vpTsQSA8e78ZyU+RjlvF1+wNFEfq78DvqZlBpMAaFbDR4oJQNIuHvcULhOIpv5s
ViPhAkEAqNmZbj/VXe2Vw5H5dH8wHP0TAtTfTa4LAg2v5tc/ZO+7qIHCsacG03QM
kim3VSWKTkAXHYgGmQ7QenShjeCO9QJAQAG2QS87nk8wo0QUiB1q93viq6HOhVcq
JFTntfRoeAxvD8HpgC1i3Cgbrf8HHV4mpH1TbNQQDD5ncQVbjF37AQJBAOeWMkp0
7kzjzRf88o+IYErD3N6JSS5F6c1gXiQtbAyiWH7P7XjwyzCrvoX0p3qfd8lkNoeX
7iZ1Lg3vRCKhejY=
-----END PRIVATE KEY-----
)",
                                     R"(-----BEGIN PRIVATE KEY-----
MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCVcxqKnWcwt31iFayC
TNKiPzINGWpeGkOfxlSKyvJQ+Hc6MmKna1EFxkNyXQ3cA9ChZANiAAQDtCyS3Sg5
VjUy4C/E0W3zMvmwSWoRJd52IWdp1t6S6N3cWcdtiVeWLz/ZN3oz0Ih+D2FBbLPt
+nBawKKcFmdeIfMXVUG2xU74+1M6J5hTgLKwBIM8HI+uzkaEfH62QRA=
-----END PRIVATE KEY-----
)",
                                     R"(-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEILdRjHDfiDlOkg+rgtMXt7clxf7BQGpD9R+mpg7Z5Eew
-----END PRIVATE KEY-----
)"};
    for (const char* pem : kWeak) EXPECT_FALSE(SigningKey::parse(pem).has_value()) << pem;
}

}  // namespace
}  // namespace muster::net::signing_key_test
