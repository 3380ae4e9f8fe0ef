#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/caller.h"
#include "cli/command_line.h"
#include "cli/machine.h"
#include "runtime/node.h"

namespace muster::cli {

/// What full names of pods and services end with; upstream's operator reads the same variable.
inline constexpr std::string_view kClusterDomainVariable = "CUSTOM_CLUSTER_DOMAIN";
/// "" where it is not set; kInvalid when it is no domain.
Result<std::string> cluster_domain(const Caller& caller);

/// The node of this machine as every verb that runs pods begins with it.
runtime::NodeOptions node_settings(const Caller& caller, const Machine& machine, Sandbox sandbox,
                                   std::filesystem::path state_dir, std::string cluster_domain);

}  // namespace muster::cli
