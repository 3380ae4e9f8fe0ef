#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/kind.h"
#include "kube/values/json.h"

namespace muster::cli {

/// Where a permission applies: in the namespaces whose jobs are run, in the operator's own, or to
/// objects outside of namespaces.
enum class Reach { kJobs, kOwnNamespace, kCluster };

/// What a permission is needed for: all jobs, or what an installation has only if it was chosen.
enum class Need { kAll, kMpi, kAgentTokens };

/// One rule of a role of the operator, and what it is for.
struct Permission {
    Reach reach = Reach::kJobs;
    std::string group = {};  ///< "": that of pods
    std::vector<std::string> resources;
    std::vector<std::string> verbs;
    std::vector<std::string> names = {};  ///< of objects; empty: any
    Need need = Need::kAll;               ///< the installations that have it
    std::string_view why;                 ///< valid as long as the program runs
};

/// Everything that the operator may do, and nothing that it does not do. docs/cluster.md has the
/// same as a table.
std::vector<Permission> operator_permissions(std::span<const jobs::JobKind* const> kinds);

/// The rules of a role for those of one reach and need.
json::array role_rules(std::span<const Permission> permissions, Reach reach,
                       Need need = Need::kAll);

}  // namespace muster::cli
