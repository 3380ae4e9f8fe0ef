#pragma once

#include "cli/caller.h"
#include "cli/command_line.h"

namespace muster::cli {

/// `muster run` on the cluster of options.cluster: the exit status.
int run_on_cluster(const RunOptions& options, const Caller& caller);

}  // namespace muster::cli
