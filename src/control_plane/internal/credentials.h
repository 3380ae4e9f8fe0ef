#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time/clock.h"
#include "control_plane/daemon/state_home.h"
#include "net/tls/certificates.h"
#include "net/tls/signing_key.h"

namespace muster::control_plane {

/// The credentials of a server and of its admin.
struct Credentials {
    net::KeyPair ca;
    net::KeyPair server;
    net::KeyPair admin;  ///< a client certificate, for servers that require one
    std::string admin_token;
    /// Signs the tokens of service accounts.
    std::shared_ptr<const net::SigningKey> account_key;
};

/// Loads them from the directory; makes and stores what is missing. A certificate that lacks one of
/// the names, expires within a month, is of another CA or not that of its key (which a kill while
/// both were written leaves behind) is signed again; the CA and the token stay the same, so that a
/// kubeconfig remains valid.
Result<Credentials> load_credentials(const StateHome& home, const net::ServerNames& names,
                                     WallTime now);

}  // namespace muster::control_plane
