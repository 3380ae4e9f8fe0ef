#include "cli/internal/envtest/kube_apiserver_flags.h"

#include <gmock/gmock.h>

#include <regex>

#include "cli/internal/envtest/kube_apiserver_flag_table.h"

namespace muster::cli::kube_apiserver_flags_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Words = std::vector<std::string>;

/// What controller-runtime 0.24 starts it with.
const Words kEnvtest{"--allow-privileged=true",
                     "--authorization-mode=RBAC",
                     "--bind-address=127.0.0.1",
                     "--cert-dir=/tmp/certs",
                     "--client-ca-file=/tmp/certs/client-cert-auth-ca.crt",
                     "--disable-admission-plugins=ServiceAccount",
                     "--etcd-servers=http://127.0.0.1:41011",
                     "--secure-port=41013",
                     "--service-account-issuer=https://127.0.0.1:41013/",
                     "--service-account-key-file=/tmp/certs/sa-signer.crt",
                     "--service-account-signing-key-file=/tmp/certs/sa-signer.key",
                     "--service-cluster-ip-range=10.0.0.0/24"};

Result<KubeApiserverOptions> read(const Words& words) {
    const auto given =
        parse_go_flags(GoFlagStyle::kPflag, "kube-apiserver", kube_apiserver_flags(), words);
    if (!given) return given.error();
    return read_kube_apiserver_flags(*given);
}
Words with(Words more) {
    Words all = kEnvtest;
    all.insert(all.end(), more.begin(), more.end());
    return all;
}
Words without(std::string_view prefix) {
    Words left = kEnvtest;
    std::erase_if(left, [&](const std::string& word) { return word.starts_with(prefix); });
    return left;
}
std::string error_of(const Words& words) {
    const auto options = read(words);
    return options ? "accepted" : options.error().message();
}

TEST(KubeApiserverFlags, WhatEnvtestSendsIsHonoured) {
    const auto options = read(kEnvtest);
    ASSERT_TRUE(options.has_value()) << options.error().message();
    EXPECT_EQ(options->listen, (control_plane::ListenAddress{"127.0.0.1", 41013}));
    EXPECT_THAT(options->etcd_servers,
                ElementsAre(control_plane::ListenAddress{"127.0.0.1", 41011}));
    EXPECT_EQ(options->cert_dir, "/tmp/certs");
    EXPECT_EQ(options->client_ca_file, "/tmp/certs/client-cert-auth-ca.crt");
    EXPECT_THAT(options->issuers, ElementsAre("https://127.0.0.1:41013/"));
    EXPECT_THAT(options->account_keys, ElementsAre("/tmp/certs/sa-signer.crt"));
    EXPECT_EQ(options->signing_key_file, "/tmp/certs/sa-signer.key");
    EXPECT_EQ(options->services, *apiserver::ServiceRange::parse("10.0.0.0/24"));
    EXPECT_TRUE(options->anonymous);
    EXPECT_FALSE(options->everything_allowed);
    EXPECT_FALSE(options->pods_need_accounts);
    EXPECT_THAT(options->without_effect, IsEmpty());
}

TEST(KubeApiserverFlags, WhatSuitesAddIsHonoured) {
    const auto options =
        read(with({"--tls-cert-file=a.crt", "--tls-private-key-file=a.key",
                   "--token-auth-file=tokens", "--api-audiences=a,b", "--max-requests-inflight=7",
                   "--anonymous-auth=false", "--max-mutating-requests-inflight=0", "-v=4"}));
    ASSERT_TRUE(options.has_value()) << options.error().message();
    EXPECT_EQ(options->tls_cert_file, "a.crt");
    EXPECT_EQ(options->tls_key_file, "a.key");
    EXPECT_EQ(options->token_file, "tokens");
    EXPECT_THAT(options->audiences, ElementsAre("a", "b"));
    EXPECT_EQ(options->limits.read_only, 7);
    EXPECT_EQ(options->limits.mutating, 0);
    EXPECT_FALSE(options->anonymous);
    EXPECT_EQ(options->verbosity, 4);
}

TEST(KubeApiserverFlags, WithoutAModeEverythingIsAllowedToWhoeverIsKnown) {
    const auto options = read(without("--authorization-mode"));
    ASSERT_TRUE(options.has_value()) << options.error().message();
    EXPECT_TRUE(options->everything_allowed);
    EXPECT_FALSE(options->anonymous);
    EXPECT_FALSE(read(with({"--authorization-mode=Node"}))->everything_allowed);
}

TEST(KubeApiserverFlags, WhatHasNoEffectIsTold) {
    const auto options = read(
        with({"--feature-gates=A=true,B=false", "--runtime-config=api/all=true",
              "--disable-admission-plugins=ResourceQuota", "--watch-cache=false",
              "--enable-admission-plugins=PodSecurity",
              "--audit-policy-file=", "--service-cluster-ip-range=fd00::/108", "--event-ttl=1h"}));
    ASSERT_TRUE(options.has_value()) << options.error().message();
    EXPECT_THAT(options->without_effect,
                ElementsAre("--enable-admission-plugins=PodSecurity", "--event-ttl=1h",
                            "--feature-gates=A=true,B=false", "--runtime-config=api/all=true",
                            "--service-cluster-ip-range=fd00::/108",
                            "--disable-admission-plugins=ResourceQuota"));
}

TEST(KubeApiserverFlags, WhatIsWrongIsSaid) {
    struct Row {
        Words words;
        std::string_view wrong;
    };
    for (const Row& row : {
             Row{with({"--insecure-port=0"}), "unknown flag: --insecure-port"},
             Row{without("--etcd-servers"), "--etcd-servers must be specified"},
             Row{with({"--etcd-servers=https://127.0.0.1:1"}),
                 "--etcd-servers wants http://HOST:PORT"},
             Row{with({"--secure-port=0"}), "--secure-port 0 must be between 1 and 65535"},
             Row{with({"--bind-address=localhost"}), "--bind-address wants an IP address"},
             Row{with({"--tls-cert-file=a"}),
                 "--tls-cert-file and --tls-private-key-file need each"},
             Row{without("--service-account-issuer"), "service-account-issuer is a required flag"},
             Row{without("--service-account-signing"), "are required flags"},
             Row{without("--service-account-key"), "either `--service-account-key-file` or"},
             Row{with({"--service-account-issuer=https://127.0.0.1:41013/"}),
                 "is already specified"},
             Row{with({"--service-account-issuer="}), "should not be an empty string"},
             Row{with({"--service-cluster-ip-range=10.0.0.0/24,a,b"}), "more than two entries"},
             Row{with({"--authorization-mode=Rbac"}),
                 "authorization-mode \"Rbac\" is not a valid mode"},
             Row{with({"--authorization-mode=Webhook"}),
                 "authorization-mode Webhook is not served here"},
             Row{with({"--authorization-mode=RBAC"}),
                 "authorization-mode [\"RBAC\" \"RBAC\"] has mode specified more than once"},
             Row{with({"--enable-admission-plugins=A"}),
                 "enable-admission-plugins plugin \"A\" is unknown"},
             Row{with({"--disable-admission-plugins=A"}),
                 "disable-admission-plugins plugin \"A\" is"},
             Row{with({"--enable-admission-plugins=ServiceAccount"}),
                 "[ServiceAccount] in enable-"},
             Row{with({"--max-requests-inflight=-1"}),
                 "--max-requests-inflight can not be negative"},
             Row{with({"--audit-policy-file=p.yaml"}), "--audit-policy-file is not served here"},
             Row{with({"--oidc-issuer-url=https://a"}), "--oidc-issuer-url is not served here"},
         })
        EXPECT_THAT(error_of(row.words), HasSubstr(row.wrong));
    Words small = without("--service-cluster-ip-range");
    small.emplace_back("--service-cluster-ip-range=10.0.0.0/30");
    EXPECT_EQ(error_of(small), "the service cluster IP range must be at least 8 IP addresses");
    small.back() = "--service-cluster-ip-range=10.0.0.0/8";
    EXPECT_THAT(error_of(small), HasSubstr("is too large"));
    small.back() = "--service-cluster-ip-range=fd00::/108";
    EXPECT_THAT(error_of(small), HasSubstr("wants an IPv4 network"));
}

TEST(KubeApiserverFlags, AllThatIsWrongIsSaidAtOnce) {
    EXPECT_THAT(error_of({"--secure-port=0"}),
                testing::AllOf(testing::StartsWith("["), HasSubstr("--secure-port 0"),
                               HasSubstr(", --etcd-servers must be specified, ")));
}

TEST(KubeApiserverFlags, HelpHasEachAtTheBeginningOfALine) {
    const std::string help = kube_apiserver_help();
    // As envtest looks for them.
    const auto there = [&](const std::string& name) {
        return std::regex_search(help, std::regex("(^|\n)\\s*--" + name + "\\b"));
    };
    for (const KubeApiserverFlag& flag : kube_apiserver_flag_table())
        EXPECT_TRUE(there(std::string(flag.name))) << flag.name;
    EXPECT_FALSE(there("insecure-port"));
}

TEST(KubeApiserverFlags, TheTableIsSorted) {
    EXPECT_TRUE(std::ranges::is_sorted(kube_apiserver_flag_table(), {}, &KubeApiserverFlag::name));
}

TEST(HttpUrl, IsAnAddressWithAPort) {
    using control_plane::ListenAddress;
    EXPECT_EQ(parse_http_url("http://127.0.0.1:2379"), (ListenAddress{"127.0.0.1", 2379}));
    EXPECT_EQ(parse_http_url("http://localhost:2379/"), (ListenAddress{"127.0.0.1", 2379}));
    EXPECT_EQ(parse_http_url("http://[::1]:2379"), (ListenAddress{"::1", 2379}));
    for (const char* url :
         {"", "127.0.0.1:2379", "https://127.0.0.1:2379", "http://127.0.0.1", "http://:2379",
          "http://etcd:2379", "http://[::1]", "unix://etcd", "http://127.0.0.1:2379/a"})
        EXPECT_EQ(parse_http_url(url), std::nullopt) << url;
}

}  // namespace
}  // namespace muster::cli::kube_apiserver_flags_test
