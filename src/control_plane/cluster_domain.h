#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "control_plane/daemon/caller.h"

namespace muster::control_plane {

/// The end of full names of pods and services; upstream's operator reads the same variable.
inline constexpr std::string_view kClusterDomainVariable = "CUSTOM_CLUSTER_DOMAIN";
/// "" if it is not set; kInvalid if it is not a domain.
Result<std::string> cluster_domain(const Caller& caller);

}  // namespace muster::control_plane
