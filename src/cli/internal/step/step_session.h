#pragma once

#include <string>
#include <vector>

#include "cli/internal/connect/server_options.h"
#include "cli/internal/step/contract.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

/// What `muster step` was told.
struct StepOptions {
    ServerOptions server;
    StepWords words;
    bool dry_run = false;  ///< print the job, and stop
    bool quiet = false;
};

/// One step of a pipeline, from its words to its exit code. Runs a loop of its own.
int run_step(const StepOptions& options, const control_plane::Caller& caller);

}  // namespace muster::cli
