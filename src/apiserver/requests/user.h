#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::apiserver {

inline constexpr std::string_view kAnonymous = "system:anonymous";
inline constexpr std::string_view kMasters = "system:masters";
inline constexpr std::string_view kAuthenticated = "system:authenticated";
inline constexpr std::string_view kUnauthenticated = "system:unauthenticated";

/// The sender of a request.
struct User {
    std::string name;
    std::string uid;
    std::vector<std::string> groups;
    /// Further data about the user, such as the pod whose token was shown.
    std::map<std::string, std::vector<std::string>> extra = {};

    bool in_group(std::string_view group) const;
};

}  // namespace muster::apiserver
