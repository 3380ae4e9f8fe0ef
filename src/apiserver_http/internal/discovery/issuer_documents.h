#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/authentication/token_rules.h"

namespace muster::apiserver_http {

struct IssuerDocument {
    std::string_view content_type;
    std::string text;
};

/// The documents by which others check tokens of service accounts, according to OpenID Connect:
/// /.well-known/openid-configuration and /openid/v1/jwks. Nullopt for other paths, and without a
/// key.
std::optional<IssuerDocument> issuer_document(const net::SigningKey* key,
                                              const apiserver::TokenRules& rules,
                                              std::string_view path);

}  // namespace muster::apiserver_http
