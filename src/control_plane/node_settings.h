#pragma once

#include <filesystem>
#include <string>

#include "control_plane/daemon/caller.h"
#include "control_plane/machine.h"
#include "runtime/node.h"

namespace muster::control_plane {

/// The settings of this machine's node for every verb that runs pods.
runtime::NodeOptions node_settings(const Caller& caller, const Machine& machine,
                                   runtime::SandboxMode sandbox, std::filesystem::path state_dir,
                                   std::string cluster_domain);

}  // namespace muster::control_plane
