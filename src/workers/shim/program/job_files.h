#pragma once

#include "workers/shim/order.h"

namespace muster::workers {

/// The shim's cgroup of version 2, made; -1 where there is none, or where it may not be made.
int make_group(const ShimOrder& order);
/// Kills all that is in it in one step, as far as the kernel can do that.
void kill_group(int group);
void remove_group(const ShimOrder& order, int group);

/// Removes what is this worker's in the job's directory, and with the last worker all of it: for a
/// shim that ends without an agent. Where an agent holds the directory, it is left to that one.
void remove_job_files(const ShimOrder& order);

}  // namespace muster::workers
