#pragma once

#include "cli/internal/run/run_options.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

/// Runs `muster run` on the cluster of options.cluster. Returns the exit status.
int run_on_cluster(const RunOptions& options, const control_plane::Caller& caller);

}  // namespace muster::cli
