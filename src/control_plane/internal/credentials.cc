#include "control_plane/internal/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace muster::control_plane {

namespace {

constexpr auto kCaLife = std::chrono::hours(24 * 365 * 10);
constexpr auto kLeafLife = std::chrono::hours(24 * 365 * 2);
constexpr auto kRenewBefore = std::chrono::hours(24 * 30);
// Clients' clocks may be a little behind.
constexpr auto kSlack = std::chrono::hours(1);

net::Validity validity(WallTime now, Duration life) { return {now - kSlack, now + life}; }

/// The stored pair of this name, unless a part of it is missing. They may be parts of two pairs.
Result<std::optional<net::KeyPair>> read_pair(const StateHome& home, const std::string& name) {
    TRY(std::optional<std::string> certificate, home.read(name + ".crt"));
    TRY(std::optional<std::string> key, home.read(name + ".key"));
    if (!certificate || !key) return std::nullopt;
    return net::KeyPair{*std::move(certificate), *std::move(key)};
}

/// Whether the key is that of the certificate.
Result<bool> is_pair(const StateHome& home, const std::string& name, const net::KeyPair& pair) {
    auto belongs = net::key_belongs(pair.certificate, pair.key);
    if (!belongs)
        return belongs.error().prefix(
            fmt::format("{0}.crt and {0}.key can't be used; remove both to get new ones",
                        (home.path() / name).string()));
    return *belongs;
}

Result<void> keep(const StateHome& home, const std::string& name, const net::KeyPair& pair) {
    TRY_VOID(home.write(name + ".key", pair.key));
    return home.write(name + ".crt", pair.certificate);
}

/// The CA, made if it is missing. It is never replaced: its key and its certificate belong together
/// unless someone changed them.
Result<net::KeyPair> certificate_authority(const StateHome& home, WallTime now) {
    TRY(const std::optional<net::KeyPair> present, read_pair(home, "ca"));
    if (!present) {
        TRY(net::KeyPair made, net::make_ca("muster", validity(now, kCaLife)));
        TRY_VOID(keep(home, "ca", made));
        return made;
    }
    TRY(const bool belongs, is_pair(home, "ca", *present));
    if (!belongs)
        return Error(Code::kInvalid,
                     fmt::format("{0}.key is not the key of {0}.crt; remove both to get new ones",
                                 (home.path() / "ca").string()));
    return *present;
}

bool holds_all(const std::vector<std::string>& have, const std::vector<std::string>& wanted) {
    return std::ranges::all_of(wanted, [&](const std::string& name) {
        return std::ranges::find(have, name) != have.end();
    });
}

Result<bool> is_good(const net::KeyPair& ca, const net::KeyPair& pair,
                     const net::ServerNames& names, WallTime now) {
    TRY(const WallTime end, net::certificate_expiry(pair.certificate));
    if (end < now + kRenewBefore) return false;
    TRY(const bool of_this_ca, net::is_signed_by(pair.certificate, ca.certificate));
    if (!of_this_ca) return false;
    TRY(const net::ServerNames present, net::certificate_names(pair.certificate));
    return holds_all(present.addresses, names.addresses) &&
           holds_all(present.dns_names, names.dns_names);
}

/// The pair of this name if it can still be used, and otherwise a new one by `sign`. A kill between
/// the writing of its key and that of its certificate leaves two that do not belong together: then
/// it is signed again, too.
template <class Sign>
Result<net::KeyPair> leaf(const StateHome& home, const std::string& name, const net::KeyPair& ca,
                          const net::ServerNames& names, WallTime now, Sign sign) {
    TRY(std::optional<net::KeyPair> present, read_pair(home, name));
    if (present) {
        TRY(const bool belongs, is_pair(home, name, *present));
        TRY(const bool good, is_good(ca, *present, names, now));
        if (belongs && good) return *std::move(present);
    }
    TRY(net::KeyPair made, sign());
    TRY_VOID(keep(home, name, made));
    return made;
}

/// Whether it can be sent after "Bearer".
bool is_token(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-._~+/=").contains(c);
    });
}

/// The key in the directory, created if it is missing.
Result<std::shared_ptr<const net::SigningKey>> account_key(const StateHome& home) {
    TRY(std::optional<std::string> pem, home.read("sa.key"));
    if (!pem || pem->empty()) {
        TRY(pem, net::make_signing_key());
        TRY_VOID(home.write("sa.key", *pem));
    }
    auto key = net::SigningKey::parse(*pem);
    if (!key)
        key.error().prefix(fmt::format(
            "{} can't be used; remove it to get a new one; earlier tokens are invalid then",
            (home.path() / "sa.key").string()));
    return key;
}

}  // namespace

Result<Credentials> load_credentials(const StateHome& home, const net::ServerNames& names,
                                     WallTime now) {
    Credentials credentials;
    TRY(credentials.ca, certificate_authority(home, now));
    const net::KeyPair& ca = credentials.ca;
    TRY(credentials.server, leaf(home, "server", ca, names, now, [&] {
            return net::sign_server_certificate(ca, "muster", names, validity(now, kLeafLife));
        }));
    TRY(credentials.admin, leaf(home, "admin", ca, {}, now, [&] {
            return net::sign_client_certificate(ca, {"muster-admin", {"system:masters"}},
                                                validity(now, kLeafLife));
        }));
    TRY(std::optional<std::string> token, home.read("admin.token"));
    if (!token || token->empty()) {
        TRY(token, net::random_token());
        TRY_VOID(home.write("admin.token", *token));
    }
    if (!is_token(*token))
        return Error(Code::kInvalid,
                     fmt::format("{} can't be used: a token is one line of only letters, digits "
                                 "and -._~+/=; remove it to get a new one",
                                 (home.path() / "admin.token").string()));
    credentials.admin_token = *std::move(token);
    TRY(credentials.account_key, account_key(home));
    return credentials;
}

}  // namespace muster::control_plane
