#pragma once

#include <span>
#include <vector>

#include "jobs/kind.h"
#include "kube/objects/resource_type.h"
#include "kube/values/json.h"

namespace muster::control_plane {

extern const kube::ResourceType kClusterRoles;

/// The ClusterRoles that add jobs to `view`, `edit` and `admin`: users who may view or change the
/// pods of a namespace may view or change its jobs.
std::vector<json::value> job_roles(std::span<const jobs::JobKind* const> kinds);

/// Whether an existing role is to get the rules of this version; its annotation
/// rbac.authorization.kubernetes.io/autoupdate may say "false".
bool is_kept_up_to_date(const json::value& role);

}  // namespace muster::control_plane
