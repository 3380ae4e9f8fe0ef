#pragma once

#include <cstdint>
#include <string>

#include "base/rng.h"
#include "base/time/clock.h"
#include "master/master.h"
#include "master_process/arguments.h"
#include "master_process/plans/plan_object.h"
#include "master_process/wanted_nodes/wanted_nodes.h"

namespace muster::master_process {

// What the arguments of `muster master` mean for each life of the master in its process, wherever that
// is.

/// The epoch to claim where there is no record: a time, and so later than that of any master before,
/// whose record may be lost.
std::uint64_t first_epoch(WallTime now);

/// `first`: the epoch that it claims without a record. `token`: the job's.
master::MasterOptions master_options(const Arguments& arguments, std::uint64_t first,
                                     std::string token, Rng& rng);

/// Whose number of nodes is followed; only with Arguments::job_object.
FollowedJob followed_job(const Arguments& arguments);

/// Where it tells its wishes; only with Arguments::plan_object.
PlanPlace plan_place(const Arguments& arguments);

}  // namespace muster::master_process
