#include "cli/internal/connect/server_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

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
- name: team
  context: {cluster: one, user: ada, namespace: ml}
)";

Result<ServerAccess> select(const std::vector<KubeconfigText>& texts, const std::string& wanted) {
    TRY(const MergedKubeconfig config, merge_kubeconfigs(texts));
    return select_access(config, wanted);
}
Result<ServerAccess> select(const std::string& text) { return select({{"/k/config", text}}, ""); }

/// A kubeconfig of one context, with these fields of its cluster and its user.
std::string config_of(const std::string& cluster, const std::string& user) {
    return "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
           "clusters: [{name: k, cluster: {" +
           cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
}

TEST(ServerAccess, IsThatOfTheCurrentContextOrTheWantedOne) {
    auto home = select({{"/k/config", kHome}}, "");
    ASSERT_TRUE(home) << home.error().message();
    EXPECT_EQ(home->context, "home");
    EXPECT_EQ(home->file, "/k/config");
    EXPECT_EQ(home->url.text(), "https://one:1");
    EXPECT_EQ(home->namespace_, "default");
    EXPECT_EQ(home->token, "t");
    EXPECT_EQ(home->ca, (TextOrFile{"", "/k/pki/ca.crt"})) << "beside the file that names it";
    EXPECT_EQ(home->server_name(), "one");
    auto team = select({{"/k/config", kHome}}, "team");
    ASSERT_TRUE(team) << team.error().message();
    EXPECT_EQ(team->namespace_, "ml");
}

TEST(ServerAccess, TheFirstFileThatHasANameWins) {
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

TEST(ServerAccess, FieldsOfClusterAndUser) {
    auto access = select(
        config_of("server: 'https://10.0.0.1', tls-server-name: api.example, "
                  "certificate-authority-data: Q0E=",
                  "client-certificate-data: Q0VSVA==, client-key: k.pem, tokenFile: /run/token"));
    ASSERT_TRUE(access) << access.error().message();
    EXPECT_EQ(access->server_name(), "api.example");
    EXPECT_EQ(access->ca.text, "CA");
    EXPECT_EQ(access->certificate.text, "CERT");
    EXPECT_EQ(access->key.file, "/k/k.pem");
    EXPECT_EQ(access->token_file, "/run/token");
    auto insecure = select(config_of("server: a, insecure-skip-tls-verify: true", ""));
    ASSERT_TRUE(insecure) << insecure.error().message();
    EXPECT_TRUE(insecure->insecure && insecure->url.tls);
    auto plain = select(config_of("server: 'a:8080'", ""));
    ASSERT_TRUE(plain) << plain.error().message();
    EXPECT_FALSE(plain->url.tls);
}

TEST(ServerAccess, AnExecPlugin) {
    auto access = select(config_of(
        "server: 'https://a'",
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [get, token], "
        "env: [{name: A, value: b}], interactiveMode: Never, provideClusterInfo: true, "
        "installHint: get it}"));
    ASSERT_TRUE(access) << access.error().message();
    ASSERT_TRUE(access->exec);
    EXPECT_EQ(access->exec->command, "/k/login");
    EXPECT_THAT(access->exec->arguments, ElementsAre("get", "token"));
    EXPECT_THAT(access->exec->environment, ElementsAre(Pair("A", "b")));
    EXPECT_TRUE(access->exec->provide_cluster_info && !access->exec->may_ask);
    EXPECT_EQ(access->exec->install_hint, "get it");
    auto in_path = select(config_of(
        "server: a", "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: login}"));
    ASSERT_TRUE(in_path) << in_path.error().message();
    EXPECT_EQ(in_path->exec->command, "login");
    EXPECT_TRUE(in_path->exec->may_ask);
}

TEST(ServerAccess, WhatIsWrongIsToldWithFileAndField) {
    struct Row {
        std::string text;
        std::vector<const char*> told;
    };
    const std::string server = "server: 'https://a'";
    const Row kRows[] = {
        {"clusters: [", {"/k/config:1:"}},
        {"[]", {"/k/config", "not a map"}},
        {"kind: Pod", {"/k/config", "kind", "\"Pod\""}},
        {"clusters: {}", {"clusters", "a list"}},
        {"clusters: [1]", {"clusters[0]", "a map"}},
        {"users: [{user: {}}]", {"users[0].name"}},
        {"users: [{name: a, user: x}]", {"users[0].user", "a map"}},
        {"", {"no current-context", "--context", "there is none"}},
        {"contexts: [{name: a}, {name: b}]", {"no current-context", "a, b"}},
        {"current-context: hom\ncontexts: [{name: home}]", {"\"hom\"", "did you mean \"home\""}},
        {"current-context: a\ncontexts: [{name: a}]", {"context \"a\"", "cluster is missing"}},
        {"current-context: a\ncontexts: [{name: a, context: {cluster: x}}]",
         {"context \"a\"", "\"x\"", "not among the clusters"}},
        {"current-context: a\ncontexts: [{name: a, context: {cluster: x, user: who}}]",
         {"\"who\"", "not among the users"}},
        {config_of("", ""), {"cluster \"k\"", "server is missing"}},
        {config_of("server: 5", ""), {"cluster \"k\"", "server has to be a text"}},
        {config_of("server: 'ftp://a'", ""), {"server", "scheme"}},
        {config_of(server + ", proxy-url: 'http://p'", ""), {"proxy-url is not supported"}},
        {config_of(server + ", certificate-authority-data: '!'", ""),
         {"certificate-authority-data is not base64"}},
        {config_of(server + ", insecure-skip-tls-verify: 'yes'", ""),
         {"insecure-skip-tls-verify has to be true or false"}},
        {config_of(server + ", insecure-skip-tls-verify: true, certificate-authority: x", ""),
         {"insecure-skip-tls-verify", "take one away"}},
        {config_of(server, "client-key: k"), {"user \"u\"", "client-certificate is missing"}},
        {config_of(server, "client-certificate: c"), {"client-key is missing"}},
        {config_of(server, "username: a"), {"username is not supported", "token"}},
        {config_of(server, "auth-provider: {name: gcp}"), {"auth-provider", "exec plugin"}},
        {config_of(server, "as: root"), {"user \"u\": as is not supported"}},
        {config_of(server, "exec: 1"), {"exec has to be a map"}},
        {config_of(server, "exec: {}"), {"exec.command is missing"}},
        {config_of(server, "exec: {command: x, apiVersion: v1alpha1}"),
         {"exec.apiVersion", "v1alpha1"}},
    };
    for (const Row& row : kRows) {
        const auto access = select(row.text);
        ASSERT_FALSE(access) << row.text;
        for (const char* told : row.told)
            EXPECT_THAT(access.error().message(), HasSubstr(told)) << row.text;
    }
}

}  // namespace
}  // namespace muster::cli
