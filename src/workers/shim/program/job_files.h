#pragma once

#include "workers/shim/order.h"

namespace muster::workers {

/// Creates the worker's cgroup of version 2 and opens it; -1 if there is none or it can't be
/// created.
int make_group(const ShimOrder& order);
/// Kills all processes in it in one step, if the kernel supports that.
void kill_group(int group);
void remove_group(const ShimOrder& order, int group);

/// Removes this worker's files from the job's directory, and with the last worker what its agent left
/// there, and the directory. For a shim that ends without an agent: if an agent holds the directory,
/// leaves it alone.
void remove_job_files(const ShimOrder& order);

}  // namespace muster::workers
