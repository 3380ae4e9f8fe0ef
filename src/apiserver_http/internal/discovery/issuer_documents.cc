#include "apiserver_http/internal/discovery/issuer_documents.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver/authentication/account_token.h"
#include "apiserver/authentication/jwt.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kKeysPath = "/openid/v1/jwks";

}  // namespace

std::optional<IssuerDocument> issuer_document(const net::SigningKey* key, std::string_view path) {
    if (key == nullptr) return std::nullopt;
    if (path == kKeysPath)
        return IssuerDocument{
            "application/jwk-set+json",
            json::serialize(json::object{{"keys", json::array{apiserver::public_jwk(*key)}}})};
    if (path != "/.well-known/openid-configuration") return std::nullopt;
    const json::object document{
        {"issuer", apiserver::kTokenIssuer},
        {"jwks_uri", std::string(apiserver::kTokenIssuer) + std::string(kKeysPath)},
        {"response_types_supported", json::array{"id_token"}},
        {"subject_types_supported", json::array{"public"}},
        {"id_token_signing_alg_values_supported", json::array{key->algorithm()}}};
    return IssuerDocument{"application/json", json::serialize(document)};
}

}  // namespace muster::apiserver_http
