#include "kube/client_config/exec_credential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/test_growth.h"

namespace muster::kube::exec_credential_test {
namespace {

using testing::HasSubstr;

const ExecPlugin kPlugin{.command = "login",
                         .arguments = {},
                         .environment = {},
                         .api_version = "client.authentication.k8s.io/v1",
                         .install_hint = {},
                         .provide_cluster_info = true,
                         .may_ask = false};

std::string printed(const std::string& status) {
    return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
           status + "}";
}

TEST(ExecCredential, HasATokenOrACertificate) {
    EXPECT_EQ(parse_exec_credential(kPlugin, printed(R"({"token":"t"})")).value(),
              (ExecCredential{"t", "", ""}));
    EXPECT_EQ(parse_exec_credential(kPlugin,
                                    printed(R"({"clientCertificateData":"C","clientKeyData":"K"})"))
                  .value(),
              (ExecCredential{"", "C", "K"}));
}

TEST(ExecCredential, MayEnd) {
    const auto credential = parse_exec_credential(
        kPlugin, printed(R"({"token":"t","expirationTimestamp":"1970-01-01T00:01:00Z"})"));
    ASSERT_TRUE(credential) << credential.error().message();
    EXPECT_EQ(credential->ends, WallTime(std::chrono::minutes(1)));
}

TEST(ExecCredential, WhatIsWrongNamesThePlugin) {
    const std::pair<std::string, const char*> kRows[] = {
        {"", "did not print a JSON object"},
        {"[]", "did not print a JSON object"},
        {R"({"kind":"Pod"})", "not ExecCredential"},
        {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})",
         "speaks client.authentication.k8s.io/v1beta1"},
        {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
         "no status"},
        {printed("{}"), "neither a token nor a certificate"},
        {printed(R"({"clientKeyData":"K"})"), "only one of"},
        {printed(R"({"token":"t","expirationTimestamp":"soon"})"), "\"soon\", which is not a time"},
    };
    for (const auto& [text, why] : kRows) {
        const auto credential = parse_exec_credential(kPlugin, text);
        ASSERT_FALSE(credential) << text;
        EXPECT_THAT(credential.error().message(), HasSubstr(why)) << text;
        EXPECT_THAT(credential.error().message(), HasSubstr("login"));
    }
}

TEST(ExecCredential, ThePluginLearnsOfTheClusterIfItWants) {
    ClientConfig access;
    access.url = {.tls = true, .host = "a", .port = 1};
    access.proxy_url = "http://p:1";
    const json::value told = json::parse(exec_info(access, kPlugin, "CA", true));
    EXPECT_EQ(told.at_pointer("/spec/cluster/server"), "https://a:1");
    EXPECT_EQ(told.at_pointer("/spec/cluster/proxy-url"), "http://p:1");
    EXPECT_EQ(told.at_pointer("/spec/cluster/certificate-authority-data"), "Q0E=");
    EXPECT_EQ(told.at_pointer("/spec/interactive"), true);
    EXPECT_EQ(std::string_view(told.at("apiVersion").as_string()), kPlugin.api_version);
    ExecPlugin silent = kPlugin;
    silent.provide_cluster_info = false;
    EXPECT_FALSE(json::parse(exec_info(access, silent, "CA", false))
                     .at("spec")
                     .as_object()
                     .contains("cluster"));
}

TEST(ExecCredential, IsAskedForAnewBeforeItEnds) {
    using namespace std::chrono_literals;
    const WallTime got{};
    struct Row {
        Duration life;
        Duration renewed;
    };
    const Row kRows[] = {{10h, 10h - 5min}, {25min, 20min}, {100s, 80s}, {15s, 12s},
                         {5s, 10s},         {0s, 10s},      {-1h, 10s}};
    for (const Row& row : kRows)
        EXPECT_EQ(renewal_time(got, got + row.life), got + row.renewed) << row.life.count();
}

std::string long_token(std::size_t size) {
    return printed(R"({"token":")" + std::string(size, 't') + R"("})");
}
std::string escaped_certificate(std::size_t size) {
    return printed(R"({"clientCertificateData":")" +
                   repeated(size, [](std::size_t) { return R"(AAAA\n)"; }) +
                   R"(","clientKeyData":"K"})");
}
std::string many_fields(std::size_t size) {
    return printed(
        R"({"token":"t")" +
        repeated(size, [](std::size_t i) { return fmt::format(R"(,"x{}":[{{"y":{}}}])", i, i); }) +
        "}");
}
std::string no_json(std::size_t size) { return std::string(size, '['); }
std::string no_time(std::size_t size) {
    return printed(R"({"token":"t","expirationTimestamp":")" + std::string(size, '1') + R"("})");
}
void take_credential(std::string_view text) { (void)parse_exec_credential(kPlugin, text); }

class ExecCredentialGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(ExecCredentialGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(
    Plugins, ExecCredentialGrowth,
    ::testing::Values(GrowthCase{"long_token", long_token, take_credential, 300'000},
                      GrowthCase{"escaped_certificate", escaped_certificate, take_credential,
                                 30'000},
                      GrowthCase{"many_fields", many_fields, take_credential, 3'000},
                      GrowthCase{"no_json", no_json, take_credential, 300'000},
                      GrowthCase{"no_time", no_time, take_credential, 300'000}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::kube::exec_credential_test
