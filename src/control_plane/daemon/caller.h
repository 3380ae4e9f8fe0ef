#pragma once

#include <string>
#include <vector>

namespace muster::control_plane {

/// Our caller: the directory and environment that containers inherit.
struct Caller {
    std::string working_dir;
    std::vector<std::string> environment;  ///< "NAME=VALUE"
    std::string user_home = {};            ///< of its user, from the system's list of users

    /// "" if it is not set.
    std::string variable(const std::string& name) const;
    /// HOME; the user's home by the system's list if that is not set, as for a service. Absolute.
    std::string home() const;
};

/// The only code that reads this process's environment and directory.
Caller current_caller();

}  // namespace muster::control_plane
