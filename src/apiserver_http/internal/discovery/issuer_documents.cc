#include "apiserver_http/internal/discovery/issuer_documents.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver/authentication/jwt.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kKeysPath = "/openid/v1/jwks";

}  // namespace

std::optional<IssuerDocument> issuer_document(const net::SigningKey* key,
                                              const apiserver::TokenRules& rules,
                                              std::string_view path) {
    if (key == nullptr) return std::nullopt;
    if (path == kKeysPath) {
        json::array keys;
        for (const net::VerifyingKey* each : rules.accepted(*key))
            keys.push_back(apiserver::public_jwk(*each));
        return IssuerDocument{"application/jwk-set+json",
                              json::serialize(json::object{{"keys", std::move(keys)}})};
    }
    if (path != "/.well-known/openid-configuration") return std::nullopt;
    const std::string& issuer = rules.issuers.front();
    const std::string_view host =
        std::string_view(issuer).substr(0, issuer.find_last_not_of('/') + 1);
    const json::object document{
        {"issuer", issuer},
        {"jwks_uri", std::string(host) + std::string(kKeysPath)},
        {"response_types_supported", json::array{"id_token"}},
        {"subject_types_supported", json::array{"public"}},
        {"id_token_signing_alg_values_supported", json::array{key->algorithm()}}};
    return IssuerDocument{"application/json", json::serialize(document)};
}

}  // namespace muster::apiserver_http
