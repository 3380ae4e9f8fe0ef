#include "kube/client_config/client_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::kube::client_config_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// JSON, written with single quotes.
json::object fields(std::string text) {
    std::ranges::replace(text, '\'', '"');
    return json::parse(text).as_object();
}

/// One context, with these fields of its cluster and its user.
MergedKubeconfig config_of(const std::string& cluster, const std::string& user) {
    return {.files = {"/k/config"},
            .current_context = "c",
            .clusters = {{"k", {"/k/config", fields("{" + cluster + "}")}}},
            .users = {{"u", {"/k/config", fields("{" + user + "}")}}},
            .contexts = {{"c", {"/k/config", fields("{'cluster': 'k', 'user': 'u'}")}}}};
}

MergedKubeconfig home() {
    return {.files = {"/k/config"},
            .current_context = "home",
            .clusters = {{"one",
                          {"/k/config", fields("{'server': 'https://one:1', "
                                               "'certificate-authority': 'pki/ca.crt'}")}}},
            .users = {{"ada", {"/k/config", fields("{'token': 't'}")}}},
            .contexts = {
                {"home", {"/k/config", fields("{'cluster': 'one', 'user': 'ada'}")}},
                {"team",
                 {"/k/config", fields("{'cluster': 'one', 'user': 'ada', 'namespace': 'ml'}")}}}};
}

/// Contexts alone, by their fields.
MergedKubeconfig contexts(const std::string& current,
                          const std::map<std::string, std::string>& by_name) {
    MergedKubeconfig config;
    config.files = {"/k/config"};
    config.current_context = current;
    for (const auto& [name, text] : by_name)
        config.contexts[name] = {"/k/config", fields("{" + text + "}")};
    return config;
}

TEST(ClientConfig, IsThatOfTheCurrentContextOrTheWantedOne) {
    auto current = select_access(home(), "");
    ASSERT_TRUE(current) << current.error().message();
    EXPECT_EQ(current->context, "home");
    EXPECT_EQ(current->file, "/k/config");
    EXPECT_EQ(current->url.text(), "https://one:1");
    EXPECT_EQ(current->namespace_, "default");
    EXPECT_EQ(current->token, "t");
    EXPECT_EQ(current->ca, (TextOrFile{"", "/k/pki/ca.crt"})) << "beside the file that names it";
    EXPECT_EQ(current->server_name(), "one");
    auto team = select_access(home(), "team");
    ASSERT_TRUE(team) << team.error().message();
    EXPECT_EQ(team->namespace_, "ml");
}

TEST(ClientConfig, FieldsOfClusterAndUser) {
    auto access =
        select_access(config_of("'server': 'https://10.0.0.1', 'tls-server-name': 'api.example', "
                                "'certificate-authority-data': 'Q0E='",
                                "'client-certificate-data': 'Q0VSVA==', 'client-key': 'k.pem', "
                                "'tokenFile': '/run/token'"),
                      "");
    ASSERT_TRUE(access) << access.error().message();
    EXPECT_EQ(access->server_name(), "api.example");
    EXPECT_EQ(access->ca.text, "CA");
    EXPECT_EQ(access->certificate.text, "CERT");
    EXPECT_EQ(access->key.file, "/k/k.pem");
    EXPECT_EQ(access->token_file, "/run/token");
    auto insecure =
        select_access(config_of("'server': 'a', 'insecure-skip-tls-verify': true", ""), "");
    ASSERT_TRUE(insecure) << insecure.error().message();
    EXPECT_TRUE(insecure->insecure && insecure->url.tls);
    auto plain = select_access(config_of("'server': 'a:8080'", ""), "");
    ASSERT_TRUE(plain) << plain.error().message();
    EXPECT_FALSE(plain->url.tls);
}

TEST(ClientConfig, AnExecPlugin) {
    auto access = select_access(
        config_of("'server': 'https://a'",
                  "'exec': {'apiVersion': 'client.authentication.k8s.io/v1', 'command': './login', "
                  "'args': ['get', 'token'], 'env': [{'name': 'A', 'value': 'b'}], "
                  "'interactiveMode': 'Never', 'provideClusterInfo': true, "
                  "'installHint': 'get it'}"),
        "");
    ASSERT_TRUE(access) << access.error().message();
    ASSERT_TRUE(access->exec);
    EXPECT_EQ(access->exec->command, "/k/login");
    EXPECT_THAT(access->exec->arguments, ElementsAre("get", "token"));
    EXPECT_THAT(access->exec->environment, ElementsAre(Pair("A", "b")));
    EXPECT_TRUE(access->exec->provide_cluster_info && !access->exec->may_ask);
    EXPECT_EQ(access->exec->install_hint, "get it");
    auto in_path =
        select_access(config_of("'server': 'a'",
                                "'exec': {'apiVersion': 'client.authentication.k8s.io/v1beta1', "
                                "'command': 'login'}"),
                      "");
    ASSERT_TRUE(in_path) << in_path.error().message();
    EXPECT_EQ(in_path->exec->command, "login");
    EXPECT_TRUE(in_path->exec->may_ask);
}

TEST(ClientConfig, AProxyAPasswordAndSomebodyElse) {
    auto access = select_access(
        config_of("'server': 'https://a', 'proxy-url': 'socks5://u:p@p:1'",
                  "'username': 'ann', 'password': 'secret', 'as': 'bob', 'as-uid': '7', "
                  "'as-groups': ['dev', 'ops'], 'as-user-extra': {'k': ['x', 'y'], 'l': ['z']}"),
        "");
    ASSERT_TRUE(access) << access.error().message();
    EXPECT_EQ(access->proxy_url, "socks5://u:p@p:1");
    EXPECT_EQ(access->username, "ann");
    EXPECT_EQ(access->password, "secret");
    EXPECT_EQ(access->act_as, (ActAs{.user = "bob",
                                     .uid = "7",
                                     .groups = {"dev", "ops"},
                                     .extra = {{"k", "x"}, {"k", "y"}, {"l", "z"}}}));
}

TEST(ClientConfig, WhatIsWrongIsToldWithFileAndField) {
    struct Row {
        MergedKubeconfig config;
        std::vector<const char*> told;
    };
    const std::string server = "'server': 'https://a'";
    const Row kRows[] = {
        {contexts("", {}), {"no current-context", "--context", "there is none"}},
        {contexts("", {{"a", ""}, {"b", ""}}), {"no current-context", "a, b"}},
        {contexts("hom", {{"home", ""}}), {"\"hom\"", "did you mean \"home\""}},
        {contexts("a", {{"a", ""}}), {"context \"a\"", "cluster is missing"}},
        {contexts("a", {{"a", "'cluster': 'x'"}}),
         {"context \"a\"", "\"x\"", "not among the clusters"}},
        {contexts("a", {{"a", "'cluster': 'x', 'user': 'who'"}}),
         {"\"who\"", "not among the users"}},
        {config_of("", ""), {"cluster \"k\"", "server is missing"}},
        {config_of("'server': 5", ""), {"cluster \"k\"", "server has to be a text"}},
        {config_of("'server': 'ftp://a'", ""), {"server", "scheme"}},
        {config_of(server + ", 'proxy-url': 'ftp://p'", ""), {"proxy-url", "\"ftp\""}},
        {config_of(server + ", 'proxy-url': 'p:1'", ""), {"proxy-url", "no scheme"}},
        {config_of(server + ", 'certificate-authority-data': '!'", ""),
         {"certificate-authority-data is not base64"}},
        {config_of(server + ", 'insecure-skip-tls-verify': 'yes'", ""),
         {"insecure-skip-tls-verify has to be true or false"}},
        {config_of(server + ", 'insecure-skip-tls-verify': true, 'certificate-authority': 'x'", ""),
         {"insecure-skip-tls-verify", "take one away"}},
        {config_of(server, "'client-key': 'k'"), {"user \"u\"", "client-certificate is missing"}},
        {config_of(server, "'client-certificate': 'c'"), {"client-key is missing"}},
        {config_of(server, "'username': 'a', 'token': 't'"), {"username", "take one away"}},
        {config_of(server, "'username': 'a', 'tokenFile': 't'"), {"username", "take one away"}},
        {config_of(server, "'auth-provider': {'name': 'gcp'}"), {"auth-provider", "exec plugin"}},
        {config_of(server, "'as': 1"), {"user \"u\": as has to be a text"}},
        {config_of(server, "'as-groups': ['g']"), {"user \"u\": as is missing", "as-groups"}},
        {config_of(server, "'as-uid': '7'"), {"user \"u\": as is missing"}},
        {config_of(server, "'exec': 1"), {"exec has to be a map"}},
        {config_of(server, "'exec': {}"), {"exec.command is missing"}},
        {config_of(server, "'exec': {'command': 'x', 'apiVersion': 'v1alpha1'}"),
         {"exec.apiVersion", "v1alpha1"}},
    };
    for (const Row& row : kRows) {
        const auto access = select_access(row.config, "");
        ASSERT_FALSE(access) << row.told.front();
        EXPECT_THAT(access.error().message(), HasSubstr("/k/config"));
        for (const char* told : row.told) EXPECT_THAT(access.error().message(), HasSubstr(told));
    }
}

}  // namespace
}  // namespace muster::kube::client_config_test
