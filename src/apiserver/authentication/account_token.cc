#include "apiserver/authentication/account_token.h"

#include <boost/json/array.hpp>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kPrivate = "kubernetes.io";

Error refused(std::string_view why) { return Error(Code::kUnauthorized, std::string(why)); }

/// Limited to what WallTime holds; a token is valid for at most 2^32 seconds.
bool is_time(std::int64_t seconds) { return seconds >= 0 && seconds < 9'000'000'000; }

std::int64_t seconds_of(WallTime time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

json::object named(const NamedObject& object) {
    return {{"name", object.name}, {"uid", object.uid}};
}

/// Nullopt if it is absent; kUnauthorized if it is incomplete.
Result<std::optional<NamedObject>> read_named(const json::object& parent, std::string_view key) {
    if (!parent.contains(key)) return std::optional<NamedObject>();
    const json::object* object = object_at(parent, key);
    if (object == nullptr || string_at(*object, "name").empty() ||
        string_at(*object, "uid").empty())
        return refused("the token names an object without its name or uid");
    return std::optional(NamedObject{std::string(string_at(*object, "name")),
                                     std::string(string_at(*object, "uid"))});
}

}  // namespace

json::object claims_of(const AccountToken& token) {
    json::object own{{"namespace", token.account.namespace_}};
    if (token.node) own["node"] = named(*token.node);
    if (token.pod) own["pod"] = named(*token.pod);
    if (token.secret) own["secret"] = named(*token.secret);
    own["serviceaccount"] = named({token.account.name, token.account_uid});
    return {{"aud", json::array(token.audiences.begin(), token.audiences.end())},
            {"exp", seconds_of(token.expires)},
            {"iat", seconds_of(token.issued)},
            {"iss", token.issuer},
            {"jti", token.id},
            {kPrivate, std::move(own)},
            {"nbf", seconds_of(token.issued)},
            {"sub", token.account.user_name()}};
}

Result<AccountToken> read_claims(const json::object& claims, WallTime now) {
    const std::optional<std::int64_t> expires = int_at(claims, "exp");
    const std::optional<std::int64_t> from = int_at(claims, "nbf");
    const std::optional<std::int64_t> issued = int_at(claims, "iat");
    if (!expires || !from || !issued || !is_time(*expires) || !is_time(*issued))
        return refused("the token has no time");
    const std::int64_t at = seconds_of(now);
    if (at >= *expires) return refused("the token has expired");
    if (at < *from) return refused("the token is not valid yet");
    AccountToken token;
    token.issuer = string_at(claims, "iss");
    token.issued = WallTime(std::chrono::seconds(*issued));
    token.expires = WallTime(std::chrono::seconds(*expires));
    token.id = string_at(claims, "jti");
    token.audiences = strings_at(claims, "aud");
    const json::object* own = object_at(claims, kPrivate);
    const json::object* account = own == nullptr ? nullptr : object_at(*own, "serviceaccount");
    if (account == nullptr || string_at(*account, "uid").empty())
        return refused("the token names no service account");
    token.account = {std::string(string_at(*own, "namespace")),
                     std::string(string_at(*account, "name"))};
    token.account_uid = string_at(*account, "uid");
    if (string_at(claims, "sub") != token.account.user_name())
        return refused("the token's subject is not its service account");
    TRY(token.pod, read_named(*own, "pod"));
    TRY(token.secret, read_named(*own, "secret"));
    TRY(token.node, read_named(*own, "node"));
    return token;
}

}  // namespace muster::apiserver
