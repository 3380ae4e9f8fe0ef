#pragma once

#include <cstdint>
#include <string>

#include "jobs/job.h"
#include "kube/objects/pod.h"

namespace muster::operators {

/// Whether the replicas of this type start with the job and not after others. A pod that is still
/// to come is nobody to wait for.
bool starts_at_first(const jobs::Job& job, const std::string& type);

/// How many pods start together or not at all: schedulingPolicy.minAvailable where it is given,
/// the fewest that an elastic job goes on with, else all replicas; never more than start at first.
std::int32_t gang_size(const jobs::Job& job);

/// Writes the size on a pod of the job; a gang of one is none.
void announce_gang(const jobs::Job& job, kube::Pod& pod);

}  // namespace muster::operators
