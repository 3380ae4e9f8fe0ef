#include "cli/internal/connect/exec_credential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::cli {
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
    };
    for (const auto& [text, why] : kRows) {
        const auto credential = parse_exec_credential(kPlugin, text);
        ASSERT_FALSE(credential) << text;
        EXPECT_THAT(credential.error().message(), HasSubstr(why)) << text;
        EXPECT_THAT(credential.error().message(), HasSubstr("login"));
    }
}

TEST(ExecCredential, ThePluginLearnsOfTheClusterIfItWants) {
    ServerAccess access;
    access.url = {.tls = true, .host = "a", .port = 1};
    const json::value told = json::parse(exec_info(access, kPlugin, "CA", true));
    EXPECT_EQ(told.at_pointer("/spec/cluster/server"), "https://a:1");
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

TEST(ExecPlugin, IsRunWithItsArgumentsAndVariables) {
    ExecPlugin plugin = kPlugin;
    plugin.command = "/bin/sh";
    plugin.arguments = {"-c",
                        R"(case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ;; *) exit 9;; esac
        printf '{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"%s"}}' "$1" "$A")",
                        "sh", plugin.api_version};
    plugin.environment = {{"A", "own"}};
    const auto credential = run_exec_plugin({}, plugin, {}, {"A=inherited", "PATH=/usr/bin:/bin"});
    ASSERT_TRUE(credential) << credential.error().message();
    EXPECT_EQ(credential->token, "own");
}

TEST(ExecPlugin, ItsFailureIsTold) {
    ExecPlugin plugin = kPlugin;
    plugin.command = "/bin/sh";
    plugin.arguments = {"-c", "exit 3"};
    const auto failed = run_exec_plugin({}, plugin, {}, {});
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message(), HasSubstr("status 3"));
    plugin.command = "/does/not/exist";
    plugin.install_hint = "Install it so.";
    const auto missing = run_exec_plugin({}, plugin, {}, {});
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message(),
                testing::AllOf(HasSubstr("/does/not/exist"), HasSubstr("Install it so.")));
}

}  // namespace
}  // namespace muster::cli
