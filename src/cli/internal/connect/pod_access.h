#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/caller.h"
#include "cli/internal/connect/server_access.h"

namespace muster::cli {

/// Where every pod has its service account.
inline constexpr const char* kServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount";

/// How a pod reaches the API server of its own cluster, as client-go's InClusterConfig finds it:
/// two variables, and the token, CA and namespace in `directory`. Nothing where there is no pod
/// around us. Reads the namespace; the token is read by whoever connects.
Result<std::optional<ServerAccess>> pod_access(const Caller& caller, const std::string& directory);

}  // namespace muster::cli
