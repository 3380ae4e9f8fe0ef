#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/test_growth.h"
#include "cli/internal/connect/kubeconfig_merge.h"
#include "kube/client_config/client_config.h"

// A kubeconfig is a file that others may have written.

namespace muster::cli::kubeconfig_growth_test {
namespace {

std::string many_entries(std::size_t size) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: k0\nclusters:\n" +
           repeated(size,
                    [](std::size_t i) {
                        return fmt::format("- {{name: c{}, cluster: {{server: 'https://h:1'}}}}\n",
                                           i);
                    }) +
           "users:\n" +
           repeated(size,
                    [](std::size_t i) {
                        return fmt::format("- {{name: u{}, user: {{token: t}}}}\n", i);
                    }) +
           "contexts:\n" + repeated(size, [](std::size_t i) {
               return fmt::format("- {{name: k{0}, context: {{cluster: c{0}, user: u{0}}}}}\n", i);
           });
}
std::string one_name_many_times(std::size_t size) {
    return "users:\n" + repeated(size, [](std::size_t) {
               return std::string("- {name: u, user: {token: t}}\n");
           });
}
std::string an_environment(std::size_t size) {
    return "current-context: k\nclusters: [{name: c, cluster: {server: 'https://h:1'}}]\n"
           "contexts: [{name: k, context: {cluster: c, user: u}}]\n"
           "users:\n- name: u\n  user:\n    exec:\n      apiVersion: "
           "client.authentication.k8s.io/v1\n"
           "      command: plugin\n      interactiveMode: Never\n      env:\n" +
           repeated(size, [](std::size_t i) {
               return fmt::format("      - {{name: V{}, value: x}}\n", i);
           });
}
void kubeconfig(std::string_view text) {
    const auto merged =
        merge_kubeconfigs({{"/k/a", std::string(text)}, {"/k/b", std::string(text)}});
    if (merged) (void)kube::select_access(*merged, "");
}

class KubeconfigGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(KubeconfigGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(
    Files, KubeconfigGrowth,
    ::testing::Values(GrowthCase{"many_entries", many_entries, kubeconfig, 50},
                      GrowthCase{"one_name_many_times", one_name_many_times, kubeconfig, 200},
                      GrowthCase{"an_environment", an_environment, kubeconfig, 200}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::cli::kubeconfig_growth_test
