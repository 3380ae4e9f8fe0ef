#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apiserver/requests/user.h"
#include "apiserver/watching/watch_cache.h"

namespace muster::apiserver {

/// A rule that a user has, and the binding that grants it. Valid during the visit.
struct Grant {
    const json::object& rule;
    const json::object& binding;
    const json::object& subject;  ///< of the binding: the one that matches the user
    std::string_view binding_kind;

    /// `ClusterRoleBinding "a" of ClusterRole "b" to Group "c"`.
    std::string source() const;
};

struct VisitedRoles {
    /// Why some could not be read, such as a binding to one that does not exist: one line each.
    std::vector<std::string> errors;
    std::size_t bytes = 0;  ///< of their texts, as a measure of what the visit has cost
};

/// Visits the rules that bindings grant to `user`: those of the whole cluster, then, unless
/// `namespace_` is empty, those of the namespace; until `visit` returns false. Each role is looked at
/// once, and 4 MiB of them at most: others choose what they bind a user to.
VisitedRoles visit_granted_rules(const WatchCache& cache, const User& user,
                                 std::string_view namespace_,
                                 const std::function<bool(const Grant&)>& visit);

/// The role that a binding in `namespace_` refers to. kNotFound in a real server's words.
Result<kube::ObjectPtr> find_role(const WatchCache& cache, const json::object& role_ref,
                                  std::string_view namespace_);

/// "a", or "[a, b]" without duplicates.
std::string joined_errors(std::vector<std::string> errors);

}  // namespace muster::apiserver
