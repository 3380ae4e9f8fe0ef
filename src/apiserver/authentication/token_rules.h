#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls/signing_key.h"

namespace muster::apiserver {

/// The issuer of the tokens of service accounts unless another is named.
inline constexpr std::string_view kTokenIssuer = "https://kubernetes.default.svc.cluster.local";

/// What is written into the tokens of service accounts, and which ones are accepted.
struct TokenRules {
    /// The first is that of new tokens; those of all of them are accepted. Never empty.
    std::vector<std::string> issuers{std::string(kTokenIssuer)};
    /// The names of this server: a token has to be for one of them, and is for all of them unless
    /// others are requested. Empty: the issuers.
    std::vector<std::string> audiences = {};
    /// Whose signatures are accepted. Empty: only those of the key that signs.
    std::vector<std::shared_ptr<const net::VerifyingKey>> keys = {};

    const std::vector<std::string>& own_audiences() const {
        return audiences.empty() ? issuers : audiences;
    }
    /// The keys whose signatures are accepted when `signing` is the one that signs.
    std::vector<const net::VerifyingKey*> accepted(const net::SigningKey& signing) const {
        if (keys.empty()) return {&signing};
        std::vector<const net::VerifyingKey*> all;
        for (const auto& key : keys) all.push_back(key.get());
        return all;
    }
};

}  // namespace muster::apiserver
