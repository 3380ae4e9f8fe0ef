#include "cli/internal/envtest/kube_apiserver_files.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace muster::cli::kube_apiserver_files_test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

const WallTime kNow{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1}};
const net::Validity kValid{kNow - std::chrono::hours(1), kNow + std::chrono::hours(1)};
const net::ServerNames kNames{.addresses = {"127.0.0.1"}, .dns_names = {"localhost"}};

/// A directory as envtest fills it.
class KubeApiserverFiles : public ::testing::Test {
  protected:
    KubeApiserverFiles() {
        std::string name = (fs::temp_directory_path() / "muster-files.XXXXXX").string();
        root_ = ::mkdtemp(name.data());
        const net::KeyPair ca = *net::make_ca("envtest", kValid);
        const net::KeyPair server = *net::sign_server_certificate(ca, "localhost", kNames, kValid);
        put("apiserver.crt", server.certificate);
        put("apiserver.key", server.key);
        put("client-ca.crt", net::make_ca("users", kValid)->certificate);
        const net::KeyPair accounts = *net::make_ca("accounts", kValid);
        put("sa.crt", accounts.certificate);
        put("sa.key", accounts.key);
        options_.cert_dir = root_;
        options_.client_ca_file = root_ / "client-ca.crt";
        options_.issuers = {"https://127.0.0.1:1/"};
        options_.account_keys = {root_ / "sa.crt"};
        options_.signing_key_file = root_ / "sa.key";
    }
    ~KubeApiserverFiles() override { fs::remove_all(root_); }

    void put(const std::string& name, const std::string& text) {
        std::ofstream(root_ / name) << text;
    }
    std::string text(const std::string& name) {
        std::ifstream file(root_ / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    Result<control_plane::ServingIdentity> read() {
        return read_kube_apiserver_files(options_, kNames, kNow);
    }
    std::string error() {
        const auto identity = read();
        return identity ? "accepted" : identity.error().message();
    }

    fs::path root_;
    KubeApiserverOptions options_;
};

TEST_F(KubeApiserverFiles, AreThoseOfEnvtest) {
    put("tokens", "abc,ann,7,dev\n");
    options_.token_file = root_ / "tokens";
    const auto identity = read();
    ASSERT_TRUE(identity.has_value()) << identity.error().message();
    EXPECT_EQ(identity->certificate.certificate, text("apiserver.crt"));
    EXPECT_EQ(identity->client_ca_pem, text("client-ca.crt"));
    EXPECT_EQ(identity->token_rules.issuers.front(), "https://127.0.0.1:1/");
    ASSERT_EQ(identity->token_rules.keys.size(), 1);
    EXPECT_TRUE(
        identity->token_rules.keys.front()->verify("text", *identity->account_key->sign("text")));
    ASSERT_EQ(identity->access.tokens.size(), 1);
    EXPECT_EQ(identity->access.tokens.front().user.name, "ann");
    EXPECT_TRUE(identity->access.admin_token.empty());
}

TEST_F(KubeApiserverFiles, ACertificateIsMadeWhereThereIsNone) {
    options_.cert_dir = root_ / "a" / "b";
    const auto identity = read();
    ASSERT_TRUE(identity.has_value()) << identity.error().message();
    EXPECT_EQ(identity->certificate.certificate, text("a/b/apiserver.crt"));
    EXPECT_EQ(net::certificate_names(identity->certificate.certificate)->dns_names,
              kNames.dns_names);
    EXPECT_EQ(read()->certificate.certificate, identity->certificate.certificate);
}

TEST_F(KubeApiserverFiles, WhatIsWrongIsSaidWithItsFlagAndFile) {
    const KubeApiserverOptions good = options_;
    const auto wrong_with = [&](auto change) {
        options_ = good;
        change();
        return error();
    };
    put("text", "text");
    put("few", "a,b");
    const std::string path = root_ / "text";
    EXPECT_THAT(wrong_with([&] { options_.client_ca_file = root_ / "gone"; }),
                testing::AllOf(HasSubstr("--client-ca-file " + (root_ / "gone").string()),
                               HasSubstr("No such file")));
    EXPECT_THAT(wrong_with([&] { options_.client_ca_file = path; }),
                HasSubstr("--client-ca-file " + path));
    EXPECT_THAT(wrong_with([&] { options_.signing_key_file = path; }),
                HasSubstr("--service-account-signing-key-file " + path));
    EXPECT_THAT(wrong_with([&] { options_.account_keys = {path}; }),
                HasSubstr("--service-account-key-file " + path + ": there is no key in it"));
    EXPECT_THAT(wrong_with([&] { options_.token_file = root_ / "few"; }),
                HasSubstr("must have at least 3 columns"));
    EXPECT_THAT(wrong_with([&] {
                    options_.tls_cert_file = root_ / "apiserver.crt";
                    options_.tls_key_file = root_ / "sa.key";
                }),
                HasSubstr("is not the key of"));
    fs::remove(root_ / "apiserver.key");
    EXPECT_THAT(wrong_with([] {}), HasSubstr("has only one of apiserver.crt and apiserver.key"));
}

}  // namespace
}  // namespace muster::cli::kube_apiserver_files_test
