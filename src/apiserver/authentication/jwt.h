#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "kube/values/json.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver {

/// A JSON web token in its compact form, as far as it can be read without a key. Nothing in it is
/// to be believed. Views into the token's text.
struct UncheckedJwt {
    json::object header;
    std::string_view signed_text;  ///< what the signature is about: header and claims, encoded
    std::string_view claims;       ///< encoded
    std::string signature;
};

/// kUnauthorized, with why, for anything that is not a token of that form. Takes any text.
Result<UncheckedJwt> parse_jwt(std::string_view token);

/// The claims of a token that `key` signed; kUnauthorized for any other. The key says which
/// algorithm it has to be: what the token's header says can only be wrong.
Result<json::object> verified_claims(const net::SigningKey& key, std::string_view token);

Result<std::string> make_jwt(const net::SigningKey& key, const json::object& claims);

/// The public half as a JSON web key (RFC 7517).
json::object public_jwk(const net::SigningKey& key);

}  // namespace muster::apiserver
