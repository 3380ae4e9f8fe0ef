#pragma once

#include <string>

namespace muster::apiserver {

/// Who may connect: the holder of the admin token, who may do everything, and clients with a
/// certificate that the listener's TLS has verified (CN is the name, O the groups). Roles and
/// bindings say what those may do.
struct AccessOptions {
    std::string admin_token;  ///< empty: none
    /// A token alone is not enough, and there are no anonymous users.
    bool demand_certificate = false;
};

}  // namespace muster::apiserver
