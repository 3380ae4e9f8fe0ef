#pragma once

#include "apiserver/authentication/token_rules.h"
#include "apiserver/requests/user.h"
#include "apiserver/watching/watch_cache.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver {

/// The owner of a token, and those of the requested audiences that it is meant for.
struct TokenOwner {
    User user;
    std::vector<std::string> audiences;
};

/// The service account of a token that was signed with `key`, or with one of the keys that the rules
/// name. kUnauthorized, with the reason, unless it is valid at `now` for one of `audiences` (empty:
/// this server), and its account and the objects it is bound to are still the same objects.
Result<TokenOwner> authenticate_account(const WatchCache& cache, const net::SigningKey& key,
                                        const TokenRules& rules, std::string_view token,
                                        const std::vector<std::string>& audiences, WallTime now);

}  // namespace muster::apiserver
