#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::apiserver {

/// Who sends a request.
struct User {
    std::string name;
    std::string uid;
    std::vector<std::string> groups;
    /// What else is known of them, such as the pod whose token was shown.
    std::map<std::string, std::vector<std::string>> extra = {};

    bool in_group(std::string_view group) const;
};

/// Who is let in: the holder of the admin token, who may do everything, and those with a client
/// certificate that the listener's TLS has verified (CN is the name, O the groups). What they may
/// do, roles and bindings say.
struct AccessOptions {
    std::string admin_token;  ///< empty: none
    /// A token alone is not enough, and nobody is anonymous.
    bool demand_certificate = false;
};

}  // namespace muster::apiserver
