#pragma once

#include <cstdint>
#include <string>

#include "jobs/job.h"
#include "kube/objects/pod.h"

namespace muster::operators {

/// Whether the replicas of this type start with the job and not after others. The gang does not
/// wait for pods that are made later.
bool starts_at_first(const jobs::Job& job, const std::string& type);

/// How many pods start together or not at all: schedulingPolicy.minAvailable if given, else the
/// minimum of an elastic job, else all replicas; never more than start at first.
std::int32_t gang_size(const jobs::Job& job);

/// Writes the size on a pod of the job, unless it is one.
void announce_gang(const jobs::Job& job, kube::Pod& pod);

}  // namespace muster::operators
