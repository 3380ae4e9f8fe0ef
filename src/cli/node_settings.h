#pragma once

#include "cli/caller.h"
#include "cli/command_line.h"
#include "cli/machine.h"
#include "cli/state_dir.h"
#include "runtime/node.h"

namespace muster::cli {

/// The node of this machine as every verb that runs pods begins with it. `keeper` outlives the
/// node.
runtime::NodeOptions node_settings(const Caller& caller, const Machine& machine, Sandbox sandbox,
                                   const StateDir& state, runtime::Keeper& keeper);

}  // namespace muster::cli
