#pragma once

#include <sys/resource.h>

#include "cli/internal/share/share_options.h"
#include "launch/flags.h"

namespace muster::cli {

/// What the processes get of whoever called this program.
struct ShareCaller {
    launch::Variables variables = {};
    rlim_t core_bytes = 0;
};

/// Runs them until all have ended, one has failed, or a signal asks for the end. Returns the exit
/// status: 0; that of the first that failed, 128 + signal if a signal ended it; 128 + the signal
/// that came; 2 if nothing was started.
int run_share(const ShareOptions& options, const ShareCaller& caller);

}  // namespace muster::cli
