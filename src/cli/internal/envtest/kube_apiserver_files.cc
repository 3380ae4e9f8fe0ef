#include "cli/internal/envtest/kube_apiserver_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/internal/envtest/token_file.h"
#include "control_plane/daemon/state_home.h"
#include "manifest/read_files.h"

namespace muster::cli {

namespace {

constexpr auto kMadeFor = std::chrono::hours(24 * 365);
constexpr auto kClocksMayDiffer =
    std::chrono::hours(1);  ///< clients' clocks may be a little behind

Error of_flag(Error error, std::string_view flag, const std::string& path) {
    return error.prefix(fmt::format("--{} {}", flag, path));
}

Result<std::string> read_named_file(std::string_view flag, const std::string& path) {
    // "-" would be standard input.
    auto text = manifest::read_file(path == "-" ? "./-" : path);
    if (!text) return of_flag(std::move(text.error()), flag, path);
    return text;
}

/// The pair of these two files.
Result<net::KeyPair> read_key_pair(std::string_view flag, const std::string& certificate,
                                   std::string_view key_flag, const std::string& key) {
    net::KeyPair pair;
    TRY(pair.certificate, read_named_file(flag, certificate));
    TRY(pair.key, read_named_file(key_flag, key));
    auto belongs = net::key_belongs(pair.certificate, pair.key);
    if (!belongs) return of_flag(std::move(belongs.error()), flag, certificate);
    if (!*belongs)
        return Error(Code::kInvalid,
                     fmt::format("--{} {} is not the key of {}", key_flag, key, certificate));
    return pair;
}

/// A new certificate, signed by an authority of its own, which follows it.
Result<net::KeyPair> make_key_pair(const std::string& directory, const std::string& certificate,
                                   const std::string& key, const net::ServerNames& names,
                                   WallTime now) {
    const net::Validity validity{now - kClocksMayDiffer, now + kMadeFor};
    TRY(const net::KeyPair ca, net::make_ca("muster", validity));
    TRY(net::KeyPair made, net::sign_server_certificate(ca, "kube-apiserver", names, validity));
    made.certificate += ca.certificate;
    std::error_code failed;
    std::filesystem::create_directories(directory, failed);
    if (failed) return of_flag(system_error("making it", failed.value()), "cert-dir", directory);
    TRY_VOID(control_plane::write_private_file(key, made.key));
    TRY_VOID(control_plane::write_private_file(certificate, made.certificate));
    return made;
}

Result<net::KeyPair> serving_pair(const KubeApiserverOptions& options,
                                  const net::ServerNames& names, WallTime now) {
    if (!options.tls_cert_file.empty())
        return read_key_pair("tls-cert-file", options.tls_cert_file, "tls-private-key-file",
                             options.tls_key_file);
    const std::string certificate = options.cert_dir + "/apiserver.crt";
    const std::string key = options.cert_dir + "/apiserver.key";
    std::error_code ignored;
    const bool there = std::filesystem::exists(certificate, ignored);
    if (there != std::filesystem::exists(key, ignored))
        return Error(Code::kInvalid,
                     fmt::format("--cert-dir {} has only one of apiserver.crt and apiserver.key; "
                                 "remove it to get new ones",
                                 options.cert_dir));
    if (there) return read_key_pair("cert-dir", certificate, "cert-dir", key);
    return make_key_pair(options.cert_dir, certificate, key, names, now);
}

/// Whether it has certificates is found out here, where the flag can be named.
Result<std::string> client_ca(const std::string& path) {
    TRY(std::string pem, read_named_file("client-ca-file", path));
    auto expiry = net::certificate_expiry(pem);
    if (!expiry) return of_flag(std::move(expiry.error()), "client-ca-file", path);
    return pem;
}

Result<void> read_account_keys(const KubeApiserverOptions& options,
                               control_plane::ServingIdentity& identity) {
    constexpr std::string_view kSigns = "service-account-signing-key-file";
    constexpr std::string_view kChecks = "service-account-key-file";
    TRY(const std::string signing, read_named_file(kSigns, options.signing_key_file));
    auto key = net::SigningKey::parse(signing);
    if (!key) return of_flag(std::move(key.error()), kSigns, options.signing_key_file);
    identity.account_key = *std::move(key);
    for (const std::string& file : options.account_keys) {
        TRY(const std::string pem, read_named_file(kChecks, file));
        auto keys = net::VerifyingKey::parse_all(pem);
        if (!keys) return of_flag(std::move(keys.error()), kChecks, file);
        identity.token_rules.keys.insert(identity.token_rules.keys.end(), keys->begin(),
                                         keys->end());
    }
    return {};
}

}  // namespace

Result<control_plane::ServingIdentity> read_kube_apiserver_files(
    const KubeApiserverOptions& options, const net::ServerNames& names, WallTime now) {
    control_plane::ServingIdentity identity;
    identity.token_rules.issuers = options.issuers;
    identity.token_rules.audiences = options.audiences;
    identity.access.anonymous = options.anonymous;
    identity.access.everything_allowed = options.everything_allowed;
    if (!options.client_ca_file.empty()) {
        TRY(identity.client_ca_pem, client_ca(options.client_ca_file));
    }
    TRY_VOID(read_account_keys(options, identity));
    if (!options.token_file.empty()) {
        TRY(const std::string text, read_named_file("token-auth-file", options.token_file));
        auto tokens = read_token_file(text);
        if (!tokens)
            return of_flag(std::move(tokens.error()), "token-auth-file", options.token_file);
        identity.access.tokens = *std::move(tokens);
    }
    TRY(identity.certificate, serving_pair(options, names, now));
    // What other servers learn: the authority of users, as kube-apiserver tells them.
    identity.root_ca_pem =
        identity.client_ca_pem.empty() ? identity.certificate.certificate : identity.client_ca_pem;
    return identity;
}

}  // namespace muster::cli
