#pragma once

#include <string>
#include <vector>

namespace muster::control_plane {

/// Who called us: the directory and environment that containers inherit.
struct Caller {
    std::string working_dir;
    std::vector<std::string> environment;  ///< "NAME=VALUE"
    std::string user_home = {};            ///< of its user, by the system's list of users

    /// "" when it is not set.
    std::string variable(const std::string& name) const;
    /// HOME; what the list of users says where that is not set, as for a service. Absolute.
    std::string home() const;
};

/// The only reader of this process's environment and directory.
Caller current_caller();

}  // namespace muster::control_plane
