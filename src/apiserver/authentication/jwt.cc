#include "apiserver/authentication/jwt.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver/objects/json_access.h"
#include "base/fields.h"
#include "kube/values/base64.h"
#include "kube/values/read_json.h"

namespace muster::apiserver {

namespace {

/// Ours have about 1,000 bytes.
constexpr std::size_t kMaxBytes = 16 * 1024;

Error malformed(std::string_view why) { return Error(Code::kUnauthorized, std::string(why)); }

Result<json::object> decoded_object(std::string_view encoded) {
    const std::optional<std::string> text = kube::base64url_decode(encoded);
    if (!text) return malformed("a part of the token is not base64url");
    std::optional<json::value> value = kube::read_json(*text);
    if (!value || !value->is_object()) return malformed("a part of the token is not a JSON object");
    return std::move(value->get_object());
}

std::string encoded(const json::object& object) {
    return kube::base64url_encode(json::serialize(object));
}

}  // namespace

Result<UncheckedJwt> parse_jwt(std::string_view token) {
    if (token.size() > kMaxBytes) return malformed("the token is too long");
    UncheckedJwt jwt;
    std::string_view rest = token;
    const std::string_view header = take_field(rest, '.');
    jwt.claims = take_field(rest, '.');
    if (header.empty() || jwt.claims.empty() || rest.empty() || rest.find('.') != rest.npos)
        return malformed("the token does not consist of three parts");
    jwt.signed_text = token.substr(0, header.size() + 1 + jwt.claims.size());
    TRY(jwt.header, decoded_object(header));
    std::optional<std::string> signature = kube::base64url_decode(rest);
    if (!signature) return malformed("the token's signature is not base64url");
    jwt.signature = *std::move(signature);
    return jwt;
}

Result<json::object> verified_claims(const std::vector<const net::VerifyingKey*>& keys,
                                     std::string_view token) {
    TRY(const UncheckedJwt jwt, parse_jwt(token));
    const std::string_view id = string_at(jwt.header, "kid");
    const auto found = std::ranges::find_if(keys, [&](const net::VerifyingKey* key) {
        return id == kube::base64url_encode(key->fingerprint());
    });
    if (found == keys.end()) return malformed("the token was signed with another key");
    const net::VerifyingKey& key = **found;
    if (string_at(jwt.header, "alg") != key.algorithm())
        return malformed("the token was signed with another algorithm");
    // We do not understand any critical extension.
    if (jwt.header.contains("crit")) return malformed("the token has critical extensions");
    if (!key.verify(jwt.signed_text, jwt.signature))
        return malformed("the token's signature is wrong");
    return decoded_object(jwt.claims);
}

Result<json::object> verified_claims(const net::VerifyingKey& key, std::string_view token) {
    return verified_claims(std::vector{&key}, token);
}

Result<std::string> make_jwt(const net::SigningKey& key, const json::object& claims) {
    const json::object header{{"alg", key.algorithm()},
                              {"kid", kube::base64url_encode(key.fingerprint())}};
    std::string token = encoded(header) + "." + encoded(claims);
    TRY(const std::string signature, key.sign(token));
    token += "." + kube::base64url_encode(signature);
    return token;
}

json::object public_jwk(const net::VerifyingKey& key) {
    const net::VerifyingKey::PublicKey& half = key.public_key();
    json::object jwk{{"use", "sig"},
                     {"kty", half.elliptic ? "EC" : "RSA"},
                     {"kid", kube::base64url_encode(key.fingerprint())},
                     {"alg", key.algorithm()}};
    if (half.elliptic) jwk["crv"] = "P-256";
    jwk[half.elliptic ? "x" : "n"] = kube::base64url_encode(half.first);
    jwk[half.elliptic ? "y" : "e"] = kube::base64url_encode(half.second);
    return jwk;
}

}  // namespace muster::apiserver
