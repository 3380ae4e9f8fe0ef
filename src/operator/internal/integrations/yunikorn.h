#pragma once

#include "jobs/kind.h"
#include "operator/internal/integrations/gang_members.h"

// Apache YuniKorn. It has no objects: an application is what its pods say of it.

namespace muster::operators::yunikorn {

/// Says which application and queue the pod belongs to, and what the gang is made of, in the same
/// words on each pod of a job. A template that says any of it itself is left as it is.
void mark(const jobs::Job& job, const jobs::ReplicaId& replica, const Priorities& priorities,
          kube::Pod& pod);

}  // namespace muster::operators::yunikorn
