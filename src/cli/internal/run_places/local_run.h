#pragma once

#include <sys/resource.h>

#include "cli/internal/prepare/prepare.h"
#include "cli/internal/run/run_options.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/machine.h"

namespace muster::cli {

/// Runs what was prepared on this machine, and returns the exit status of `muster run`.
/// `core_bytes`: what pods may leave, of core dumps.
int run_on_machine(const RunOptions& options, Prepared prepared,
                   const control_plane::Caller& caller, const control_plane::Machine& machine,
                   rlim_t core_bytes);

}  // namespace muster::cli
