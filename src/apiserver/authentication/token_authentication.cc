#include "apiserver/authentication/token_authentication.h"

#include <algorithm>

#include "apiserver/authentication/account_token.h"
#include "apiserver/authentication/authentication.h"
#include "apiserver/authentication/jwt.h"
#include "apiserver/objects/text_fields.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

/// A pod that ends may use its token to end in order.
constexpr auto kGrace = std::chrono::seconds(60);

Error denied(std::string_view why) { return Error(Code::kUnauthorized, std::string(why)); }

Result<void> check_there(const WatchCache& cache, const std::string& resource,
                         const std::string& namespace_, const NamedObject& object, WallTime now) {
    const CachedObject* found = cache.find(resource, namespace_, object.name);
    if (found == nullptr || uid_of(*found->object) != object.uid)
        return denied(fmt::format("the token is bound to an object of {} that is gone", resource));
    const auto end =
        kube::parse_time(string_at_path(found->object->text(), "metadata.deletionTimestamp"));
    if (end && *end + kGrace < now)
        return denied(fmt::format("the token is bound to an object of {} that ended", resource));
    return {};
}

User user_of(const AccountToken& token) {
    User user{token.account.user_name(), token.account_uid, token.account.groups(), {}};
    user.groups.emplace_back(kAuthenticated);
    const auto put = [&](std::string_view key, const std::string& value) {
        user.extra["authentication.kubernetes.io/" + std::string(key)] = {value};
    };
    if (!token.id.empty()) put("credential-id", "JTI=" + token.id);
    if (token.pod) {
        put("pod-name", token.pod->name);
        put("pod-uid", token.pod->uid);
    }
    if (token.node) {
        put("node-name", token.node->name);
        put("node-uid", token.node->uid);
    }
    return user;
}

}  // namespace

Result<TokenOwner> authenticate_account(const WatchCache& cache, const net::SigningKey& key,
                                        const TokenRules& rules, std::string_view token,
                                        const std::vector<std::string>& audiences, WallTime now) {
    TRY(const json::object claims, verified_claims(rules.accepted(key), token));
    TRY(const AccountToken read, read_claims(claims, now));
    if (std::ranges::find(rules.issuers, read.issuer) == rules.issuers.end())
        return denied("the token has another issuer");
    TokenOwner owner;
    const std::vector<std::string>& wanted = audiences.empty() ? rules.own_audiences() : audiences;
    for (const std::string& audience : read.audiences)
        if (std::ranges::find(wanted, audience) != wanted.end())
            owner.audiences.push_back(audience);
    if (owner.audiences.empty()) return denied("the token is meant for another audience");
    const std::string& space = read.account.namespace_;
    TRY_VOID(
        check_there(cache, "serviceaccounts", space, {read.account.name, read.account_uid}, now));
    if (read.pod) TRY_VOID(check_there(cache, "pods", space, *read.pod, now));
    if (read.secret) TRY_VOID(check_there(cache, "secrets", space, *read.secret, now));
    // A pod is deleted with its node; the node is recorded only for information.
    if (read.node && !read.pod) TRY_VOID(check_there(cache, "nodes", "", *read.node, now));
    owner.user = user_of(read);
    return owner;
}

}  // namespace muster::apiserver
