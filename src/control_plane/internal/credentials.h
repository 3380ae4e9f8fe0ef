#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time/clock.h"
#include "control_plane/state_home.h"
#include "net/tls/certificates.h"
#include "net/tls/signing_key.h"

namespace muster::control_plane {

/// What a server proves itself with, and what its admin does.
struct Credentials {
    net::KeyPair ca;
    net::KeyPair server;
    net::KeyPair admin;  ///< a client certificate, for servers that demand one
    std::string admin_token;
    /// What the tokens of service accounts are signed with.
    std::shared_ptr<const net::SigningKey> account_key;
};

/// Those of the directory; what is missing is made and kept there. A certificate that lacks one of
/// the names, or ends within a month, is signed anew; the CA and the token stay what they are, so
/// that a kubeconfig goes on to be good.
Result<Credentials> load_credentials(const StateHome& home, const net::ServerNames& names,
                                     WallTime now);

}  // namespace muster::control_plane
