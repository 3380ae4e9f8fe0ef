#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "control_plane/caller.h"

namespace muster::control_plane {

/// What full names of pods and services end with; upstream's operator reads the same variable.
inline constexpr std::string_view kClusterDomainVariable = "CUSTOM_CLUSTER_DOMAIN";
/// "" where it is not set; kInvalid when it is not a domain.
Result<std::string> cluster_domain(const Caller& caller);

}  // namespace muster::control_plane
