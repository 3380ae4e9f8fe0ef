#pragma once

#include "jobs/gang.h"
#include "jobs/job.h"
#include "kube/objects/pod.h"

namespace muster::operators {

using jobs::gang_size;
using jobs::starts_at_first;

/// Writes the size on a pod of the job, unless it is one.
void announce_gang(const jobs::Job& job, kube::Pod& pod);

}  // namespace muster::operators
