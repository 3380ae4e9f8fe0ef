#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/values/json.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver {

/// A JSON web token in its compact form, parsed without a key. Nothing in it may be trusted. Views
/// into the token's text.
struct UncheckedJwt {
    json::object header;
    std::string_view signed_text;  ///< the text that is signed: header and claims, encoded
    std::string_view claims;       ///< encoded
    std::string signature;
};

/// kUnauthorized, with the reason, if it is not a token of that form. Takes any text.
Result<UncheckedJwt> parse_jwt(std::string_view token);

/// The claims of a token that one of the keys signed; kUnauthorized for any other. The key determines
/// the algorithm; a different one in the token's header is an error.
Result<json::object> verified_claims(const std::vector<const net::VerifyingKey*>& keys,
                                     std::string_view token);
/// The same with one key.
Result<json::object> verified_claims(const net::VerifyingKey& key, std::string_view token);

Result<std::string> make_jwt(const net::SigningKey& key, const json::object& claims);

/// The public half as a JSON web key (RFC 7517).
json::object public_jwk(const net::VerifyingKey& key);

}  // namespace muster::apiserver
