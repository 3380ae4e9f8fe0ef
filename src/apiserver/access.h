#pragma once

#include <string>
#include <vector>

namespace muster::apiserver {

/// Who sends a request.
struct User {
    std::string name;
    std::string uid;
    std::vector<std::string> groups;

    bool in_group(std::string_view group) const;
};

/// Who is let in. Nobody is but the holder of the admin token, who may do everything, and those
/// with a client certificate that the listener's TLS has verified (CN is the name, O the groups).
struct AccessOptions {
    std::string admin_token;  ///< empty: none
    /// A token alone is not enough, and nobody is anonymous.
    bool demand_certificate = false;
};

}  // namespace muster::apiserver
