#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apiserver/authentication/access_options.h"
#include "apiserver/authentication/token_rules.h"
#include "net/tls/certificates.h"
#include "net/tls/signing_key.h"

namespace muster::control_plane {

/// What a server shows its clients, and by what it knows them.
struct ServingIdentity {
    net::KeyPair certificate;   ///< its chain may follow
    std::string client_ca_pem;  ///< who signs the certificates of clients; empty: none is asked for
    /// What pods and other servers are told to trust; not empty.
    std::string root_ca_pem;
    /// Signs the tokens of service accounts.
    std::shared_ptr<const net::SigningKey> account_key;
    apiserver::TokenRules token_rules = {};
    apiserver::AccessOptions access = {};
    /// Shown by the admin to servers that require a certificate.
    std::optional<net::KeyPair> admin = {};
};

}  // namespace muster::control_plane
