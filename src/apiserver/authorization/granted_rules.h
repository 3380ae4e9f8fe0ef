#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apiserver/requests/user.h"
#include "apiserver/watching/watch_cache.h"

namespace muster::apiserver {

/// A rule that somebody has, and through which binding. Valid during the visit.
struct Grant {
    const json::object& rule;
    const json::object& binding;
    const json::object& subject;  ///< of the binding: the one that matches the user
    std::string_view binding_kind;

    /// `ClusterRoleBinding "a" of ClusterRole "b" to Group "c"`.
    std::string source() const;
};

/// Visits the rules that the bindings give to `user`: those of the whole cluster, then, unless
/// `namespace_` is empty, those of the namespace; until `visit` answers false. Returns what kept it
/// from seeing a role, such as a binding to one that is not there: one line each.
std::vector<std::string> visit_granted_rules(const WatchCache& cache, const User& user,
                                             std::string_view namespace_,
                                             const std::function<bool(const Grant&)>& visit);

/// The role that a binding in `namespace_` refers to. kNotFound as a real server words it.
Result<kube::ObjectPtr> find_role(const WatchCache& cache, const json::object& role_ref,
                                  std::string_view namespace_);

/// "a", or "[a, b]" without repetitions.
std::string joined_errors(std::vector<std::string> errors);

}  // namespace muster::apiserver
