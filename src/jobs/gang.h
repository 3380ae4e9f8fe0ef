#pragma once

#include <cstdint>
#include <string>

#include "jobs/job.h"

namespace muster::jobs {

/// Whether the replicas of this type start with the job, and not after others or beside it. The gang
/// does not wait for pods that are made later, and pods beside the job are no members of it.
bool starts_at_first(const Job& job, const std::string& type);

/// How many pods start together or not at all: schedulingPolicy.minAvailable if given, else the
/// minimum of an elastic job (its range, or what its launchers begin with), else all replicas; never
/// more than start at first.
std::int32_t gang_size(const Job& job);

}  // namespace muster::jobs
