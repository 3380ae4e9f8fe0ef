#include "apiserver/authentication/authentication.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "base/lower_case.h"

namespace muster::apiserver {

namespace {

/// Compares in a time that does not tell how much of it was right.
bool same_secret(std::string_view given, std::string_view secret) {
    return !secret.empty() && given.size() == secret.size() &&
           CRYPTO_memcmp(given.data(), secret.data(), secret.size()) == 0;
}

Error unauthorized() { return Error(Code::kUnauthorized, "Unauthorized"); }

/// Nullopt if the scheme is another one. Its name is compared without case.
std::optional<std::string_view> credential(std::string_view header, std::string_view scheme) {
    if (header.size() <= scheme.size() || header[scheme.size()] != ' ') return std::nullopt;
    if (!equal_without_case(header.substr(0, scheme.size()), scheme)) return std::nullopt;
    header.remove_prefix(scheme.size());
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    return header;
}

}  // namespace

std::optional<User> user_of_token(const AccessOptions& options, std::string_view token) {
    if (same_secret(token, options.admin_token))
        return User{"muster-admin", {}, {std::string(kMasters), std::string(kAuthenticated)}};
    const auto known = std::ranges::find_if(
        options.tokens, [&](const KnownToken& each) { return same_secret(token, each.token); });
    if (known == options.tokens.end()) return std::nullopt;
    User user = known->user;
    user.groups.emplace_back(kAuthenticated);
    return user;
}

Result<User> authenticate(const AccessOptions& options, std::string_view authorization,
                          const std::optional<net::PeerCertificate>& certificate,
                          const TokenCheck& check_token) {
    if (options.demand_certificate && !certificate) return unauthorized();
    if (!authorization.empty()) {
        const auto token = credential(authorization, "bearer");
        if (!token) return unauthorized();
        if (std::optional<User> known = user_of_token(options, *token)) return *std::move(known);
        if (!check_token) return unauthorized();
        Result<User> user = check_token(*token);
        // The sender does not learn why a token is invalid.
        if (!user) return unauthorized();
        return user;
    }
    if (certificate) {
        if (certificate->common_name.empty()) return unauthorized();
        User user{certificate->common_name, {}, certificate->organizations};
        user.groups.emplace_back(kAuthenticated);
        return user;
    }
    if (!options.anonymous) return unauthorized();
    return User{std::string(kAnonymous), {}, {std::string(kUnauthenticated)}};
}

}  // namespace muster::apiserver
