#include "control_plane/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "manifest/yaml/yaml_document.h"

namespace muster::control_plane::kubeconfig_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const KubeAccess kAccess{
    .server = "https://127.0.0.1:6443", .ca_pem = "CA", .token = "secret", .client = {}};

json::value parse(std::string_view text) {
    const manifest::LineIndex lines(text);
    manifest::YamlDocument document = manifest::parse_yaml_document(text, 0, lines);
    EXPECT_TRUE(document.problems.empty()) << text;
    return document.value;
}

TEST(Kubeconfig, HasOneContext) {
    const json::value config = make_kubeconfig(kAccess);
    EXPECT_EQ(config.at("current-context"), "muster");
    EXPECT_EQ(config.at_pointer("/contexts/0/name"), "muster");
    EXPECT_EQ(config.at_pointer("/contexts/0/context/cluster"),
              config.at_pointer("/clusters/0/name"));
    EXPECT_EQ(config.at_pointer("/contexts/0/context/user"), config.at_pointer("/users/0/name"));
    EXPECT_EQ(config.at_pointer("/clusters/0/cluster/server"), "https://127.0.0.1:6443");
    EXPECT_EQ(config.at_pointer("/clusters/0/cluster/certificate-authority-data"), "Q0E=");
    EXPECT_EQ(config.at_pointer("/users/0/user/token"), "secret");
    EXPECT_FALSE(config.at_pointer("/users/0/user").as_object().contains("client-key-data"));
}

TEST(Kubeconfig, ShowsACertificateWhereOneIsDemanded) {
    KubeAccess access = kAccess;
    access.client = net::KeyPair{"CERT", "KEY"};
    const json::value config = make_kubeconfig(access);
    EXPECT_EQ(config.at_pointer("/users/0/user/client-certificate-data"), "Q0VSVA==");
    EXPECT_EQ(config.at_pointer("/users/0/user/client-key-data"), "S0VZ");
}

TEST(Kubeconfig, MergedIntoNothingIsAWholeOne) {
    for (const char* empty : {"", " \n"}) {
        const Result<std::string> merged = merge_kubeconfig(empty, kAccess);
        ASSERT_TRUE(merged.has_value());
        EXPECT_EQ(parse(*merged), json::value(make_kubeconfig(kAccess)));
    }
}

TEST(Kubeconfig, MergingKeepsAllThatIsNotOurs) {
    const Result<std::string> merged = merge_kubeconfig(R"(
apiVersion: v1
kind: Config
preferences: {colors: true}
clusters:
- name: prod
  cluster: {server: "https://prod", extension: [1, 2]}
- name: muster
  cluster: {server: "https://old", certificate-authority-data: "Q0E="}
users:
- {name: ann, user: {token: "007"}}
contexts:
- {name: prod, context: {cluster: prod, user: ann, namespace: x}}
current-context: prod
)",
                                                        kAccess);
    ASSERT_TRUE(merged.has_value()) << merged.error().message();
    const json::value config = parse(*merged);
    EXPECT_EQ(config.at_pointer("/preferences/colors"), true);
    EXPECT_EQ(config.at("clusters").as_array().size(), 2);
    EXPECT_EQ(config.at_pointer("/clusters/0/cluster/extension/1"), 2);
    EXPECT_EQ(config.at_pointer("/clusters/1/cluster/server"), "https://127.0.0.1:6443");
    EXPECT_EQ(config.at_pointer("/users/0/user/token"), "007");
    EXPECT_EQ(config.at_pointer("/users/1/name"), "muster-admin");
    EXPECT_EQ(config.at_pointer("/contexts/0/context/namespace"), "x");
    EXPECT_EQ(config.at("current-context"), "muster");
    EXPECT_EQ(*merge_kubeconfig(*merged, kAccess), *merged);
}

TEST(Kubeconfig, MergingKeepsCommentsAndForm) {
    const Result<std::string> merged = merge_kubeconfig(R"(# mine
apiVersion: v1
kind: Config
clusters: # all of them
  # the one that matters
  - name: prod
    cluster:
      server: "https://prod"   # by the door
  - name: muster
    cluster:
      server: https://127.0.0.1:1
      certificate-authority-data: T0xE
  # after ours
  - name: test
    cluster: {server: 'https://test'}

users:
- name: ann
  user:
    token: '007'
- name: muster-admin
  user: {token: old}
# the end of the users
current-context: prod # usually
preferences: {}
)",
                                                        kAccess);
    ASSERT_TRUE(merged.has_value()) << merged.error().message();
    EXPECT_EQ(*merged, R"(# mine
apiVersion: v1
kind: Config
clusters: # all of them
  # the one that matters
  - name: prod
    cluster:
      server: "https://prod"   # by the door
  - name: muster
    cluster:
      server: https://127.0.0.1:6443
      certificate-authority-data: Q0E=
  # after ours
  - name: test
    cluster: {server: 'https://test'}

users:
- name: ann
  user:
    token: '007'
- name: muster-admin
  user:
    token: secret
# the end of the users
current-context: muster # usually
preferences: {}
contexts:
- name: muster
  context:
    cluster: muster
    user: muster-admin
)");
    EXPECT_EQ(*merge_kubeconfig(*merged, kAccess), *merged);
}

TEST(Kubeconfig, AFormThatCanNotBeChangedKeepsItsMeaningOrIsRefused) {
    constexpr const char* kFlow =
        R"({"apiVersion":"v1","kind":"Config","clusters":[{"name":"prod","cluster":{"server":"https://prod"}}]})";
    const Result<std::string> merged = merge_kubeconfig(kFlow, kAccess);
    ASSERT_TRUE(merged.has_value()) << merged.error().message();
    const json::value config = parse(*merged);
    EXPECT_EQ(config.at_pointer("/clusters/0/cluster/server"), "https://prod");
    EXPECT_EQ(config.at_pointer("/clusters/1/name"), "muster");
    const Result<std::string> refused = merge_kubeconfig(std::string("# mine\n") + kFlow, kAccess);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message(), HasSubstr("comments"));
}

TEST(Kubeconfig, ACloudsClusterOfTheSameNameIsNotReplaced) {
    const Result<std::string> merged = merge_kubeconfig(R"(
kind: Config
clusters:
- name: muster
  cluster: {server: "https://cloud", certificate-authority-data: T1RIRVI=}
)",
                                                        kAccess);
    ASSERT_FALSE(merged.has_value());
    EXPECT_EQ(merged.error().code(), Code::kAlreadyExists);
    EXPECT_THAT(merged.error().message(), HasSubstr("https://cloud"));
}

TEST(Kubeconfig, AContextOfTheSameNameForAnotherClusterIsNotReplaced) {
    const Result<std::string> merged = merge_kubeconfig(R"(
kind: Config
clusters:
- {name: prod, cluster: {server: "https://prod"}}
users:
- {name: ann, user: {token: "007"}}
contexts:
- {name: muster, context: {cluster: prod, user: ann, namespace: x}}
)",
                                                        kAccess);
    ASSERT_FALSE(merged.has_value());
    EXPECT_EQ(merged.error().code(), Code::kAlreadyExists);
    EXPECT_THAT(merged.error().message(),
                AllOf(HasSubstr("context \"muster\""), HasSubstr("prod")));
}

TEST(Kubeconfig, AUserOfTheSameNameForAnotherClusterIsNotReplaced) {
    constexpr std::string_view kUsed = R"(
kind: Config
clusters:
- {name: prod, cluster: {server: "https://prod"}}
users:
- {name: muster-admin, user: {token: "007"}}
contexts:
- {name: prod, context: {cluster: prod, user: muster-admin}}
)";
    constexpr std::string_view kUnused = R"(
kind: Config
users:
- {name: muster-admin, user: {token: "007"}}
)";
    for (const std::string_view text : {kUsed, kUnused}) {
        const Result<std::string> merged = merge_kubeconfig(text, kAccess);
        ASSERT_FALSE(merged.has_value()) << text;
        EXPECT_EQ(merged.error().code(), Code::kAlreadyExists);
        EXPECT_THAT(merged.error().message(), HasSubstr("user \"muster-admin\""));
    }
    // A context of the user's own may lead to our cluster, too.
    const Result<std::string> ours = merge_kubeconfig(R"(
kind: Config
clusters:
- {name: muster, cluster: {server: "https://127.0.0.1:1", certificate-authority-data: T0xE}}
users:
- {name: muster-admin, user: {token: old}}
contexts:
- {name: mine, context: {cluster: muster, user: muster-admin, namespace: x}}
)",
                                                      kAccess);
    ASSERT_TRUE(ours.has_value()) << ours.error().message();
    EXPECT_EQ(parse(*ours).at_pointer("/users/0/user/token"), "secret");
}

TEST(Kubeconfig, WhatIsNoKubeconfigIsLeftAlone) {
    struct Case {
        const char* text;
        const char* why;
    };
    for (const Case& c : {Case{"a: [", "line 1"}, Case{"just text", "kind"},
                          Case{"kind: Pod", "kind"}, Case{"kind: Config\nusers: 5", "users"}}) {
        const Result<std::string> merged = merge_kubeconfig(c.text, kAccess);
        ASSERT_FALSE(merged.has_value()) << c.text;
        EXPECT_THAT(merged.error().message(), HasSubstr(c.why)) << c.text;
    }
}

}  // namespace
}  // namespace muster::control_plane::kubeconfig_test
