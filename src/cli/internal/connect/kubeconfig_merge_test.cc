#include "cli/internal/connect/kubeconfig_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/client_config/client_config.h"

namespace muster::cli::kubeconfig_merge_test {
namespace {

using testing::HasSubstr;

constexpr const char* kHome = R"(
apiVersion: v1
kind: Config
current-context: home
clusters:
- name: one
  cluster: {server: "https://one:1", certificate-authority: pki/ca.crt}
users:
- name: ada
  user: {token: t}
contexts:
- name: home
  context: {cluster: one, user: ada}
)";

Result<kube::ClientConfig> select(const std::vector<KubeconfigText>& texts,
                                  const std::string& wanted) {
    TRY(const kube::MergedKubeconfig config, merge_kubeconfigs(texts));
    return kube::select_access(config, wanted);
}

TEST(KubeconfigMerge, TheFirstFileThatHasANameWins) {
    constexpr const char* kFirst = R"(
users: [{name: ada, user: {token: mine}}]
contexts: [{name: other, context: {cluster: one, user: ada}}]
)";
    auto merged = select({{"/a/x", ""}, {"/a/first", kFirst}, {"/b/config", kHome}}, "");
    ASSERT_TRUE(merged) << merged.error().message();
    EXPECT_EQ(merged->context, "home") << "the first file that has a current context";
    EXPECT_EQ(merged->token, "mine");
    EXPECT_EQ(merged->ca.file, "/b/pki/ca.crt");
    auto other = select({{"/a/first", kFirst}, {"/b/config", kHome}}, "other");
    ASSERT_TRUE(other) << other.error().message();
    EXPECT_EQ(other->url.host, "one");
}

TEST(KubeconfigMerge, WhatIsWrongIsToldWithFileAndField) {
    struct Row {
        const char* text;
        std::vector<const char*> told;
    };
    const Row kRows[] = {
        {"clusters: [", {"/k/config:1:"}},
        {"[]", {"/k/config", "not a map"}},
        {"kind: Pod", {"/k/config", "kind", "\"Pod\""}},
        {"clusters: {}", {"clusters", "a list"}},
        {"clusters: [1]", {"clusters[0]", "a map"}},
        {"users: [{user: {}}]", {"users[0].name"}},
        {"users: [{name: a, user: x}]", {"users[0].user", "a map"}},
    };
    for (const Row& row : kRows) {
        const auto merged = merge_kubeconfigs({{"/k/config", row.text}});
        ASSERT_FALSE(merged) << row.text;
        for (const char* told : row.told)
            EXPECT_THAT(merged.error().message(), HasSubstr(told)) << row.text;
    }
}

}  // namespace
}  // namespace muster::cli::kubeconfig_merge_test
