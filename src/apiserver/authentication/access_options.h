#pragma once

#include <string>

namespace muster::apiserver {

/// Who is let in: the holder of the admin token, who may do everything, and those with a client
/// certificate that the listener's TLS has verified (CN is the name, O the groups). What they may
/// do, roles and bindings say.
struct AccessOptions {
    std::string admin_token;  ///< empty: none
    /// A token alone is not enough, and there are no anonymous users.
    bool demand_certificate = false;
};

}  // namespace muster::apiserver
