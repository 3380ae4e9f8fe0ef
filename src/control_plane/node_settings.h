#pragma once

#include <filesystem>
#include <string>

#include "control_plane/caller.h"
#include "control_plane/machine.h"
#include "runtime/node.h"

namespace muster::control_plane {

/// The node of this machine as every verb that runs pods begins with it.
runtime::NodeOptions node_settings(const Caller& caller, const Machine& machine,
                                   runtime::SandboxMode sandbox, std::filesystem::path state_dir,
                                   std::string cluster_domain);

}  // namespace muster::control_plane
