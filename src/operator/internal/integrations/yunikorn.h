#pragma once

#include "jobs/kind.h"
#include "operator/internal/integrations/gang_members.h"

// Apache YuniKorn. It has no objects: an application is what its pods say about it.

namespace muster::operators::yunikorn {

/// Writes on the pod its application, its queue and the members of the gang, identically on each
/// pod of a job. A template that has any of these itself is left as it is.
void mark(const jobs::Job& job, const jobs::ReplicaId& replica, const Priorities& priorities,
          kube::Pod& pod);

}  // namespace muster::operators::yunikorn
