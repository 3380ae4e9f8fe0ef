#pragma once

#include <boost/json/object.hpp>
#include <optional>

#include "kube/values/json.h"

namespace muster::apiserver {

/// On a default role or binding: "false" keeps the server from completing it.
inline constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

/// The result for a default object that exists when a server starts: what was taken away from it
/// comes back, what was added stays.
struct Reconciled {
    enum class Kind {
        kKeep,
        kUpdate,
        kReplace,  ///< a binding to another role: that can't be changed, so it is recreated
    };
    Kind kind = Kind::kKeep;
    json::object object = {};  ///< unless kKeep
};
Reconciled reconcile(const json::object& existing, const json::object& expected);

/// The rules that an aggregated ClusterRole must have: those of the roles that its selectors
/// choose, in the order of their names, each once. `roles` are by name all ClusterRoles that may be
/// parts. Nullopt for a role that is not aggregated.
std::optional<json::array> aggregated_rules(const json::object& role,
                                            const std::vector<kube::ObjectPtr>& roles);

}  // namespace muster::apiserver
