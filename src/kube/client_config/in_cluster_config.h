#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client_config/client_config.h"

namespace muster::kube {

/// Where every pod has the files of its service account.
inline constexpr const char* kServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount";

/// How a pod reaches the API server of its own cluster, as client-go's InClusterConfig finds it:
/// two variables, and the token, CA and namespace in `directory`. Nothing if we are not in a pod.
/// Reads the namespace; the token is read when a connection is made.
Result<std::optional<ClientConfig>> in_cluster_config(
    const std::vector<std::string>& environment, const std::string& directory = kServiceAccountDir);

}  // namespace muster::kube
