#pragma once

#include "jobs/job.h"
#include "kube/objects/pod.h"

namespace muster::operators {

/// Writes the size on a pod of the job, unless it is one.
void announce_gang(const jobs::Job& job, kube::Pod& pod);

}  // namespace muster::operators
