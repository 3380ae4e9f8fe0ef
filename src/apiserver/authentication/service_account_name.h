#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::apiserver {

/// A service account as a user: `system:serviceaccount:NAMESPACE:NAME`.
struct ServiceAccountName {
    std::string namespace_;
    std::string name;

    std::string user_name() const;
    /// The groups that every account of the namespace is in.
    std::vector<std::string> groups() const;
};

/// Nullopt for a user that is not a service account.
std::optional<ServiceAccountName> parse_service_account(std::string_view user_name);

}  // namespace muster::apiserver
