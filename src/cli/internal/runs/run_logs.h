#pragma once

#include "cli/internal/logs/log_options.h"
#include "cli/internal/record/run_choice.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

/// `muster logs` of a run of this machine: what its folder has, and with --follow what comes until it
/// has ended. Returns the exit status; Ctrl-C ends it.
int show_run_logs(const FoundRun& run, const LogsOptions& options,
                  const control_plane::Caller& caller);

}  // namespace muster::cli
