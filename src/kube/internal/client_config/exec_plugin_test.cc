#include "kube/internal/client_config/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube::exec_plugin_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

PluginCall shell(std::string script) {
    PluginCall call;
    call.plugin.command = "/bin/sh";
    call.plugin.arguments = {"-c", std::move(script)};
    call.plugin.api_version = "client.authentication.k8s.io/v1";
    call.user = "ada";
    call.info = R"({"kind":"ExecCredential"})";
    call.environment = {"A=inherited", "PATH=/usr/bin:/bin"};
    return call;
}

TEST(ExecPlugin, IsRunWithItsArgumentsAndVariables) {
    PluginCall call = shell(R"(case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ;; *) exit 9;; esac
        read line && exit 8
        printf '{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"%s"}}' "$1" "$A")");
    call.plugin.arguments.insert(call.plugin.arguments.end(), {"sh", call.plugin.api_version});
    call.plugin.environment = {{"A", "own"}};
    const auto credential = run_exec_plugin_now(call);
    ASSERT_TRUE(credential) << credential.error().message();
    EXPECT_EQ(credential->token, "own");
}

TEST(ExecPlugin, ItsFailureIsTold) {
    const auto failed = run_exec_plugin_now(shell("exit 3"));
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message(), AllOf(HasSubstr("status 3"), HasSubstr("\"ada\"")));
    const auto killed = run_exec_plugin_now(shell("kill -9 $$"));
    ASSERT_FALSE(killed);
    EXPECT_THAT(killed.error().message(), HasSubstr("signal 9"));
    const auto endless = run_exec_plugin_now(shell("while :; do echo $KUBERNETES_EXEC_INFO; done"));
    ASSERT_FALSE(endless);
    EXPECT_THAT(endless.error().message(), HasSubstr("without an end"));
    PluginCall missing = shell("");
    missing.plugin.command = "/does/not/exist";
    missing.plugin.install_hint = "Install it so.";
    const auto none = run_exec_plugin_now(missing);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().message(),
                AllOf(HasSubstr("/does/not/exist"), HasSubstr("Install it so.")));
}

}  // namespace
}  // namespace muster::kube::exec_plugin_test
