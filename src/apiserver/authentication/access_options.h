#pragma once

#include <string>
#include <vector>

#include "apiserver/requests/user.h"

namespace muster::apiserver {

/// A bearer token that is known from the start, and whose it is.
struct KnownToken {
    std::string token;
    User user;
};

/// Who may connect: the holder of the admin token, who may do everything, those of known tokens, and
/// clients with a certificate that the listener's TLS has verified (CN is the name, O the groups).
/// Roles and bindings say what these may do.
struct AccessOptions {
    std::string admin_token = {};  ///< empty: none
    /// A token alone is not enough, and there are no anonymous users.
    bool demand_certificate = false;
    std::vector<KnownToken> tokens = {};
    /// Requests without credentials are those of system:anonymous; otherwise they are refused.
    bool anonymous = true;
    /// Whoever is authenticated may do everything, whatever roles say.
    bool everything_allowed = false;
};

}  // namespace muster::apiserver
