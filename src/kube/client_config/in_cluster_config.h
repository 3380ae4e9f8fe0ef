#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client_config/client_config.h"

namespace muster::kube {

/// Where every pod has its service account.
inline constexpr const char* kServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount";

/// How a pod reaches the API server of its own cluster, as client-go's InClusterConfig finds it:
/// two variables, and the token, CA and namespace in `directory`. Nothing where there is no pod
/// around us. Reads the namespace; the token is read by whoever connects.
Result<std::optional<ClientConfig>> in_cluster_config(
    const std::vector<std::string>& environment, const std::string& directory = kServiceAccountDir);

}  // namespace muster::kube
